// Jumps and turns pages; touches no text. Without it the page shows all rows below each other.
"use strict";
(() => {
  const rows = [...document.querySelectorAll("article.row")];
  const main = document.querySelector("main");
  const $ = (id) => document.getElementById(id);
  let current = 0;

  const say = (text) => { $("said").textContent = text; };
  const numbers = (element) => (element.dataset.e || "").split(" ").filter(Boolean);
  const clear = (row) => row.querySelectorAll(".on").forEach((one) => one.classList.remove("on"));

  function go(index, { silent = false } = {}) {
    current = Math.max(0, Math.min(rows.length - 1, index));
    rows.forEach((row, i) => { row.hidden = i !== current; });
    $("where").textContent = `${current + 1} of ${rows.length}`;
    $("before").disabled = current === 0;
    $("after").disabled = current === rows.length - 1;
    if (!silent) {
      history.replaceState(null, "", `#row-${current}`);
      say(rows[current].getAttribute("aria-label"));
      window.scrollTo(0, 0);
    }
  }

  function light(row, wanted) {
    clear(row);
    const shares = (element) => numbers(element).some((number) => wanted.includes(number));
    const marks = [...row.querySelectorAll("mark")].filter(shares);
    const fields = [...row.querySelectorAll(".field")].filter(shares);
    [...marks, ...fields].forEach((one) => one.classList.add("on"));
    return { marks, fields };
  }

  function toPlace(field) {
    const row = field.closest("article");
    const { marks } = light(row, numbers(field));
    field.classList.add("on");
    if (marks.length) {
      marks[0].scrollIntoView({ block: "center", behavior: "auto" });
      say(`${field.dataset.field}: ${marks.map((one) => one.textContent).join("")}`);
    } else {
      say(`${field.dataset.field}: has no place in the text`);
    }
  }

  function toField(mark) {
    const { fields } = light(mark.closest("article"), numbers(mark));
    if (fields.length) {
      fields[0].focus({ preventScroll: true });
      fields[0].scrollIntoView({ block: "nearest" });
      say(`${fields[0].dataset.field}: ${fields[0].textContent}`);
    }
  }

  function step(by) {
    const fields = [...rows[current].querySelectorAll(".field")];
    if (!fields.length) return;
    const at = fields.indexOf(document.activeElement);
    const on = at >= 0 ? at : fields.findIndex((one) => one.classList.contains("on"));
    const next = fields[on < 0 ? (by > 0 ? 0 : fields.length - 1) : (on + by + fields.length) % fields.length];
    next.focus();
    toPlace(next);
  }

  const actions = {
    j: () => go(current + 1), ArrowRight: () => go(current + 1),
    k: () => go(current - 1), ArrowLeft: () => go(current - 1),
    n: () => step(1), p: () => step(-1),
    Home: () => go(0), End: () => go(rows.length - 1),
    Escape: () => clear(rows[current]),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  document.addEventListener("click", (event) => {
    const field = event.target.closest(".field");
    const mark = event.target.closest("mark");
    if (field) toPlace(field);
    else if (mark) toField(mark);
  });
  $("before").addEventListener("click", () => go(current - 1));
  $("after").addEventListener("click", () => go(current + 1));
  const asked = /^#row-(\d+)$/.exec(location.hash);
  go(asked ? Number(asked[1]) : Number(main.dataset.first), { silent: true });
  window.addEventListener("hashchange", () => {
    const found = /^#row-(\d+)$/.exec(location.hash);
    if (found) go(Number(found[1]), { silent: true });
  });
})();
