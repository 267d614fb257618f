// Unknown setting names are rejected, with a suggestion of the known name that was probably meant.
import { secretFileOf } from './files.ts'
import type { SettingsTable } from './readers.ts'

/** Returns one problem per unknown `SVC_` variable and per unknown key of the file. */
export function findUnknown(
  settings: SettingsTable,
  env: Readonly<Record<string, string | undefined>>,
  fromFile: ReadonlyMap<string, unknown>,
): string[] {
  const items = Object.values(settings)
  const variables = items.map((item) => item.env)
  const secretFiles = items.filter((item) => item.secret).map(secretFileOf)
  const openFiles = new Map(
    items.filter((item) => !item.secret).map((item) => [secretFileOf(item), item.env]),
  )
  const keys = items.map((item) => item.key)
  const isGroup = (key: string): boolean => keys.some((known) => known.startsWith(`${key}.`))
  const knownVariables = [...variables, ...secretFiles, 'SVC_CONFIG_FILE', 'SVC_REGION']
  return [
    ...Object.keys(env)
      .filter((name) => name.startsWith('SVC_') && !knownVariables.includes(name))
      .map((name) =>
        openFiles.has(name)
          ? `${name} is not a known setting; only secrets are read from files, so set ${openFiles.get(name)}`
          : `${name} is not a known setting${didYouMean(name, knownVariables)}`,
      ),
    ...[...fromFile]
      // A group without keys sets nothing, for example because all its keys are commented out.
      .filter(([key, value]) => !keys.includes(key) && !(value === null && isGroup(key)))
      .map(([key]) => `${key} is not a known key of the configuration file${didYouMean(key, keys)}`),
  ]
}

function didYouMean(name: string, known: readonly string[]): string {
  const maxEdits = Math.min(3, Math.max(1, Math.floor(name.replace(/^SVC_/, '').length / 3)))
  const [nearest] = known
    // This filter also bounds the work for very long names.
    .filter((candidate) => Math.abs(candidate.length - name.length) <= maxEdits)
    .map((candidate) => ({ candidate, edits: countEdits(name, candidate) }))
    .filter(({ edits }) => edits <= maxEdits)
    .toSorted((a, b) => a.edits - b.edits)
  return nearest === undefined ? '' : `; did you mean ${nearest.candidate}?`
}

/** Returns the number of insertions, deletions, replacements and swaps of adjacent characters that turn a into b. */
function countEdits(a: string, b: string): number {
  let above: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? at(above, j - 2) + 1 : replaced
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped))
    }
    ;[above, last] = [last, row]
  }
  return at(last, b.length)
}

const at = (row: readonly number[], index: number): number => row[index] as number
