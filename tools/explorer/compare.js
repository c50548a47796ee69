// The relevance of every answer, small, side by side.
if (facts.compare) {
  const box = $("compare");
  box.parentElement.hidden = false;
  const views = facts.relevance.map((one, i) => {
    const button = document.createElement("button"), picture = document.createElement("span"), photo = new Image();
    const canvas = document.createElement("canvas"), label = document.createElement("span"), part = document.createElement("span");
    button.type = "button";
    picture.className = "picture";
    photo.src = $("photo").src;
    photo.alt = "";
    canvas.width = cols;
    canvas.height = rows;
    label.textContent = one.label;
    part.textContent = `${(100 * facts.answers[i].probability).toFixed(1)} %`;
    picture.append(photo, canvas);
    button.append(picture, label, part);
    button.title = `What speaks for ${one.label}`;
    button.addEventListener("click", () => choose({ method: "relevance", target: i }));
    box.append(button);
    return { button, canvas, photo, map: Float32Array.from(one.tokens) };
  });
  listeners.push(() => {
    for (const [i, { button, canvas, photo, map }] of views.entries()) {
      paint(canvas, map, scaleOf(map, false), true);
      canvas.style.opacity = state.opacity / 100;
      canvas.classList.toggle("smooth", state.smooth);
      photo.style.filter = $("photo").style.filter;
      button.setAttribute("aria-pressed", state.method === "relevance" && state.target === i);
    }
  });
}
