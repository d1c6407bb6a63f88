// The sheet: shows what Python sends and tells it what was pressed. Text is set as text; the only HTML is
// the document, which Python has escaped.
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
};

const say = (value) =>
  value == null ? "no value" : Array.isArray(value) ? value.join(", ") || "none" : String(value);

function render({ model, el }) {
  const root = make("div", {
    class: "x-sheet", tabindex: 0, role: "group", "aria-label": "labels",
  });
  el.classList.add("x-wrap");
  el.append(root);
  let active = 0;
  let editing = false;
  let waiting = null; // "a" goes on to the next row once Python says that the act is kept

  const row = () => model.get("row");
  const fields = () => row().fields || [];
  const send = (message) => model.send({ key: row().key, ...message });

  function go(by) {
    const next = model.get("at") + by;
    if (next < 0 || next >= model.get("rows").length) return;
    active = 0;
    model.set("at", next);
    model.save_changes();
  }

  function draw({ focus = true } = {}) {
    const inside = root.contains(root.getRootNode().activeElement);
    editing = false;
    const keys = model.get("rows");
    const done = keys.filter(([, state]) => state !== "open").length;
    if (!row().key) {
      root.replaceChildren(make("p", { class: "said" }, "There are no rows."));
      return;
    }
    active = Math.max(0, Math.min(active, fields().length - 1));
    const text = make("div", { class: "text", tabindex: -1 });
    text.innerHTML = row().document;
    root.replaceChildren(
      make("div", { class: "head" },
        make("button", { type: "button", title: "previous row (←)", onclick: () => go(-1) }, "‹"),
        make("button", { type: "button", title: "next row (→)", onclick: () => go(1) }, "›"),
        make("span", { class: "key" }, row().key),
        make("span", { class: `state ${row().state}` }, row().state),
        make("span", { class: "count" }, `row ${model.get("at") + 1} of ${keys.length} · ${done} done`)),
      make("div", { class: "body" }, text, make("div", { class: "fields" },
        row().dead ? make("p", { class: "said bad" }, row().dead) : null,
        ...fields().map(drawField))),
      ...(row().notes.length ? [make("ul", { class: "notes" },
        ...row().notes.map((note) => make("li", {}, `“${note}”`)))] : []),
      make("div", { class: "foot" },
        make("button", { type: "button", class: "accept", onclick: accept }, "Accept"),
        make("button", { type: "button", class: "change", onclick: change }, "Change"),
        make("button", { type: "button", class: "skip", onclick: skip }, "Skip"),
        make("button", { type: "button", class: "note", onclick: note }, "Note"),
        make("span", { class: "keys" }, ...[["a", "accept"], ["↑ ↓", "field"], ["1–9", "pick"],
          ["c", "change"], ["s", "skip"], ["m", "note"], ["← →", "row"]].flatMap(([key, what]) =>
          [make("kbd", {}, key), ` ${what}  `]))),
      make("div", { class: "said", role: "status", "aria-live": "polite" }));
    light();
    if (focus && inside) root.focus({ preventScroll: true });
  }

  function drawField(field, index) {
    const box = make("div", { class: index === active ? "field on" : "field", title: field.help || null,
      onclick: () => { if (!editing) { active = index; mark(); } } },
      make("span", { class: "name" }, field.name));
    const value = make("span", { class: field.value == null ? "value none" : "value" });
    if (field.options.length) value.append(picks(field, index));
    else value.append(say(field.value));
    if (field.changed) value.append(make("span", { class: "was" }, "was ", make("s", {}, say(field.answer))));
    if (field.flagged) value.append(make("span", { class: "flag" }, " not found in the text"));
    box.append(value);
    return box;
  }

  function picks(field, index) {
    const many = field.control === "choices";
    const held = (option) => many ? (field.value || []).includes(option) : field.value === option;
    const options = field.optional && !many ? [...field.options, null] : field.options;
    return make("span", { class: "picks" }, ...options.map((option, i) => make("button", {
      type: "button", "aria-pressed": held(option) ? "true" : "false",
      onclick: (event) => { event.stopPropagation(); active = index; pick(i); },
    }, make("small", {}, i < 9 ? String(i + 1) : ""), option == null ? "no value" : String(option))));
  }

  function pick(i) {
    const field = fields()[active];
    const many = field.control === "choices";
    const options = field.optional && !many ? [...field.options, null] : field.options;
    if (i >= options.length) return;
    let value = options[i];
    if (many) {
      const held = field.value || [];
      value = held.includes(value) ? held.filter((one) => one !== value) : [...held, value];
    }
    send({ act: "change", field: field.path, value });
  }

  function mark() {
    root.querySelectorAll(".field").forEach((box, i) => box.classList.toggle("on", i === active));
    root.querySelectorAll(".field")[active]?.scrollIntoView({ block: "nearest" });
    light();
  }

  function light() {
    const wanted = fields()[active]?.support || [];
    const marks = [...root.querySelectorAll("mark")];
    marks.forEach((one) => one.classList.toggle("on",
      (one.dataset.e || "").split(" ").some((number) => wanted.includes(number))));
    const first = marks.find((one) => one.classList.contains("on"));
    const text = root.querySelector(".text");
    if (!first || !text) return;
    const [mark, view] = [first.getBoundingClientRect(), text.getBoundingClientRect()];
    if (mark.top < view.top || mark.bottom > view.bottom) text.scrollTop += mark.top - view.top - view.height / 2;
  }

  function ask(place, start, type, keep) {
    editing = true;
    const input = make("input", { class: "edit", type, "aria-label": "new value" });
    input.value = start ?? "";
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") { event.preventDefault(); keep(input.value); root.focus(); editing = false; }
      if (event.key === "Escape") { draw(); root.focus(); }
    });
    place.replaceChildren(input);
    input.focus();
    input.select?.();
  }

  const accept = () => { waiting = row().key; send({ act: "accept" }); };
  const skip = () => { waiting = row().key; send({ act: "skip" }); };
  const note = () => ask(root.querySelector(".said"), "", "text", (text) => {
    if (text.trim()) send({ act: "note", note: text.trim() }); else draw();
  });
  function change() {
    const field = fields()[active];
    if (!field) return;
    const type = field.control === "date" ? "date" : "text";
    const start = Array.isArray(field.value) ? JSON.stringify(field.value) : field.value;
    ask(root.querySelectorAll(".field")[active].querySelector(".value"), start, type, (value) => {
      send({ act: "change", field: field.path, value: field.control === "choices" ? JSON.parse(value || "[]") : value });
    });
  }

  const actions = {
    a: accept, s: skip, c: change, Enter: change, m: note,
    ArrowRight: () => go(1), ArrowLeft: () => go(-1),
    ArrowDown: () => { active = Math.min(active + 1, fields().length - 1); mark(); },
    ArrowUp: () => { active = Math.max(active - 1, 0); mark(); },
  };
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || editing) return;
    if (event.target.tagName === "BUTTON" && (event.key === "Enter" || event.key === " ")) return;
    const number = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
    const action = number >= 0 ? () => pick(number) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  });

  // JupyterLab hears a key before we do: plain keys are ours while the sheet has the focus, chords (save, run)
  // stay its own.
  const ours = (event) => {
    const plain = !(event.ctrlKey || event.metaKey || event.altKey);
    root.toggleAttribute("data-lm-suppress-shortcuts", plain && event.composedPath().includes(root));
  };
  window.addEventListener("keydown", ours, true);

  const changed = () => {
    const onwards = waiting !== null && waiting === row().key && row().state !== "open";
    waiting = null;
    draw();
    if (onwards) go(1);
  };
  const told = (message) => {
    if (!message.error) return;
    waiting = null;
    draw();
    const said = root.querySelector(".said[role=status]");
    said.textContent = message.error;
    said.classList.add("bad");
  };
  model.on("change:row", changed);
  model.on("msg:custom", told);
  draw({ focus: false });
  return () => {
    window.removeEventListener("keydown", ours, true);
    model.off("change:row", changed);
    model.off("msg:custom", told);
  };
}

export default { render };
