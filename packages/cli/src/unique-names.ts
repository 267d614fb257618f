import { Failure } from './failures.ts'

/** Refuses a name that is in a list twice; `at` says where. */
export function refuseTwice(names: readonly string[], at: string): void {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) throw new Failure('usage', `${at}: ${name} is there twice.`)
    seen.add(name)
  }
}
