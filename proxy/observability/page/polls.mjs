// The questions that the page asks again and again. One that is not answered makes old what it was asked for, and nothing else.

const whyNot = ({ name, message }) => (name === "TimeoutError" ? "not within 5 s" : message === "Failed to fetch" || name === "TypeError" ? "it cannot be reached" : message);

// Asks once, and hands the answer on. `failures` has of each question that was not answered the last time why.
export async function askOnce(failures, page, ask, take) {
  try {
    const answer = await ask(page);
    delete failures[page];
    take(answer);
  } catch (failure) {
    failures[page] = whyNot(failure);
  }
}

// What is said of one that failed; "" of one that did not.
export const sentenceOf = (failure, { of, isKnown }) => (failure ? `no answer from ${of} (${failure})${isKnown ? "; what is below is old" : ""}` : "");

// Marks the sections that were not answered for (data-of names their page), and says why in those that have a place for it. `known`
// has the pages that were ever answered.
export function showFailures(sections, failures, known) {
  for (const section of sections) {
    const { of } = section.dataset;
    const failure = failures[of];
    section.classList.toggle("old", Boolean(failure));
    const place = section.querySelector(".failure");
    if (!place) continue;
    place.hidden = !failure;
    const text = sentenceOf(failure, { of, isKnown: known.has(of) });
    if (place.textContent !== text) place.textContent = text;
  }
}
