{{ config(materialized="table") }}
SELECT * FROM (VALUES
  (1, 'Category: billing' || chr(10) || 'Amount: 12.50'),
  (2, 'Category: delivery' || chr(10) || 'Amount: 3.00'),
  (3, 'Category: technical' || chr(10) || 'Amount: 7.25')
) AS t (id, body)
