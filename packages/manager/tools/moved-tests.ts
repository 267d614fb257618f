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

const stemOf = (file: string): string => file.replace(/(\.(load|nightly|kubernetes|browser))?\.test\.ts$/, '')
const ownName = (name: string): string => name.split(' > ').at(-1) as string

/**
 * Finds each earlier test in the later list. The closest match wins: the same file in any tier, then the same name in
 * any file, then the same name without its groups in any file. A later test matches only one earlier test.
 */
export function compareTests(
  before: readonly ListedTest[],
  after: readonly ListedTest[],
  removals: readonly Removal[],
): { rows: Row[]; lost: ListedTest[] } {
  const keys = [
    ({ file, name }: ListedTest): string => `${stemOf(file)}\n${name}`,
    ({ name }: ListedTest): string => name,
    ({ name }: ListedTest): string => ownName(name),
  ]
  const found = new Map<ListedTest, ListedTest>()
  const taken = new Set<ListedTest>()
  for (const keyOf of keys) {
    const free = Map.groupBy(
      after.filter((test) => !taken.has(test)),
      keyOf,
    )
    for (const test of before.filter((one) => !found.has(one))) {
      const match = free.get(keyOf(test))?.shift()
      if (match === undefined) continue
      found.set(test, match)
      taken.add(match)
    }
  }
  const reasonFor = ({ file, name }: ListedTest): string | undefined =>
    removals.find((one) => one.file === file && (one.name === undefined || one.name === ownName(name)))
      ?.reason
  const rows = before.map((test): Row => {
    const match = found.get(test)
    if (match !== undefined) return { from: test.tier, to: match.tier, file: match.file, name: match.name }
    return { from: test.tier, to: `removed: ${reasonFor(test) ?? 'LOST'}`, file: test.file, name: test.name }
  })
  const added = after
    .filter((test) => !taken.has(test))
    .map((test) => ({ ...test, from: 'new', to: test.tier }))
  const lost = before.filter((test) => !found.has(test) && reasonFor(test) === undefined)
  return { rows: [...rows, ...added.map(({ from, to, file, name }) => ({ from, to, file, name }))], lost }
}
