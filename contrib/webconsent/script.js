(() => {
  const page = document.getElementById("consent");
  const status = document.getElementById("status");
  const loaded = performance.now();
  const words = (ms) => {
    const all = Math.max(0, Math.floor(ms / 1000)), h = Math.floor(all / 3600), m = Math.floor(all / 60) % 60, s = all % 60;
    return h > 0 ? `${h} h ${m} min left` : m > 0 ? `${m} min ${s} s left` : `${s} s left`;
  };
  const count = () => {
    for (const left of document.querySelectorAll(".left")) left.textContent = words(Date.parse(left.dataset.until) - Date.parse(left.dataset.now) - (performance.now() - loaded));
  };
  count();
  setInterval(count, 1000);
  const events = new EventSource(page.dataset.events);
  events.addEventListener("waiting", (event) => {
    const waiting = JSON.parse(event.data);
    if (page.dataset.plan) {
      const gone = !waiting.split(" ").includes(page.dataset.plan);
      for (const button of document.querySelectorAll("button")) button.disabled = gone;
      status.textContent = gone ? "This request no longer waits: it was decided, or the program no longer asks." : "";
      return;
    }
    if (waiting === page.dataset.waiting) return;
    // A list that changes under the pointer or the keyboard could lead to another request.
    if (document.activeElement === document.body && !document.querySelector("a:hover")) location.reload();
    else {
      status.textContent = "The list has changed. Use \u201cRefresh the list\u201d to see it.";
      document.title = "(!) " + document.title;
    }
  });
  addEventListener("pagehide", () => events.close());
})();
