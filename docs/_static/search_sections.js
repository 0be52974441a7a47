/* Names the section that a search result leads to: "How to … › attach a payload or a gripper". */
document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  if (!results) return;
  new MutationObserver(() => {
    for (const link of results.querySelectorAll("ul.search > li > a[href*='#']")) {
      const section = decodeURIComponent(link.hash.slice(1));
      const title = link.textContent.toLowerCase().match(/\w+/g)?.join("-");
      const named = link.dataset.section || section.includes(".") || link.textContent.includes(">") || title === section;
      if (!named && section) link.append(` › ${section.replaceAll("-", " ")}`);
      link.dataset.section = section;
    }
  }).observe(results, { childList: true, subtree: true });
});
