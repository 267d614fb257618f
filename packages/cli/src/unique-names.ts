import { Failure } from './failures.ts'

/** Rejects duplicate names. `at` is the position that the error message names. */
export function rejectDuplicates(names: readonly string[], at: string): void {
  const seenNames = new Set<string>()
  for (const name of names) {
    if (seenNames.has(name)) throw new Failure('usage', `${at}: ${name} occurs more than once.`)
    seenNames.add(name)
  }
}
