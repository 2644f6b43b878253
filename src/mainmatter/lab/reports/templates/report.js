"use strict";
// Tables are sorted by the buttons that this puts into their heads; without it they stand as they are.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const keyOf = (row) => {
      const cell = row.cells[column];
      return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
    };
    button.addEventListener("click", () => {
      // Numbers begin with the largest, names with the first of the alphabet; a second click turns it around.
      const now = head.getAttribute("aria-sort");
      const isNumber = [...body.rows].some((row) => typeof keyOf(row) === "number");
      const first = isNumber ? "descending" : "ascending";
      const second = isNumber ? "ascending" : "descending";
      const order = now === first ? second : first;
      const sign = order === "ascending" ? 1 : -1;
      const compare = (a, b) => {
        const [x, y] = [keyOf(a), keyOf(b)];
        const [isX, isY] = [typeof x === "number", typeof y === "number"];
        if (isX && isY) return sign * (x - y);
        if (isX || isY) return isX ? -1 : 1; // what has no number stands at the end, whatever the order
        return sign * x.localeCompare(y, undefined, { numeric: true });
      };
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      body.append(...[...body.rows].sort(compare));
    });
  });
}
// What is folded on the screen is printed, too.
const folded = [];
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    folded.push(details);
  }
});
addEventListener("afterprint", () => {
  for (const details of folded.splice(0)) details.open = false;
});
