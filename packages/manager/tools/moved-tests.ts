// Matches the tests of one commit with the tests of another. These functions are pure: they read no files.

export type ListedTest = { tier: string; file: string; name: string }
/** A removed test, or all removed tests of a file, with the reason. */
export type Removal = { file: string; name?: string; reason: string }
type Row = { from: string; to: string; file: string; name: string }

/** Reads the entries of test/removed-tests.yaml. Throws if an entry has no reason. */
export function readRemovals(entries: unknown): Removal[] {
  return (entries as Removal[]).map((entry) => {
    if (typeof entry.file !== 'string' || typeof entry.reason !== 'string' || entry.reason.length < 10)
      throw new Error(`removed-tests.yaml: every entry needs a file and a reason: ${JSON.stringify(entry)}`)
    return entry
  })
}

const getStem = (file: string): string =>
  file.replace(/(\.(load|nightly|kubernetes|browser))?\.test\.ts$/, '')
const getOwnName = (name: string): string => name.split(' > ').at(-1) as string

/**
 * Finds each earlier test in the later list. The closest match wins: the same file in any tier, then the same name in
 * any file, then the same name without its groups in any file. A later test matches only one earlier test.
 */
export function compareTests(
  before: readonly ListedTest[],
  after: readonly ListedTest[],
  removals: readonly Removal[],
): { rows: Row[]; lostTests: ListedTest[] } {
  const keys = [
    ({ file, name }: ListedTest): string => `${getStem(file)}\n${name}`,
    ({ name }: ListedTest): string => name,
    ({ name }: ListedTest): string => getOwnName(name),
  ]
  const matches = new Map<ListedTest, ListedTest>()
  const matchedTests = new Set<ListedTest>()
  for (const getKey of keys) {
    const freeTests = Map.groupBy(
      after.filter((test) => !matchedTests.has(test)),
      getKey,
    )
    for (const test of before.filter((one) => !matches.has(one))) {
      const match = freeTests.get(getKey(test))?.shift()
      if (match === undefined) continue
      matches.set(test, match)
      matchedTests.add(match)
    }
  }
  const findReason = ({ file, name }: ListedTest): string | undefined =>
    removals.find((one) => one.file === file && (one.name === undefined || one.name === getOwnName(name)))
      ?.reason
  const rows = before.map((test): Row => {
    const match = matches.get(test)
    if (match !== undefined) return { from: test.tier, to: match.tier, file: match.file, name: match.name }
    return { from: test.tier, to: `removed: ${findReason(test) ?? 'LOST'}`, file: test.file, name: test.name }
  })
  const addedTests = after
    .filter((test) => !matchedTests.has(test))
    .map((test) => ({ ...test, from: 'new', to: test.tier }))
  const lost = before.filter((test) => !matches.has(test) && findReason(test) === undefined)
  return {
    rows: [...rows, ...addedTests.map(({ from, to, file, name }) => ({ from, to, file, name }))],
    lostTests: lost,
  }
}
