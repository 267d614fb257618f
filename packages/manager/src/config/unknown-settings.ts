// Rejects unknown setting names, and suggests the known name that was probably meant.
import { getSecretFileVariable } from './files.ts'
import type { SettingsTable } from './readers.ts'

/** Returns one problem per unknown `SVC_` variable and per unknown key of the configuration file. */
export function findUnknownSettings(
  settings: SettingsTable,
  env: Readonly<Record<string, string | undefined>>,
  fromFile: ReadonlyMap<string, unknown>,
): string[] {
  const items = Object.values(settings)
  const variables = items.map((item) => item.env)
  const secretFiles = items.filter((item) => item.secret).map(getSecretFileVariable)
  const nonSecretFiles = new Map(
    items.filter((item) => !item.secret).map((item) => [getSecretFileVariable(item), item.env]),
  )
  const keys = items.map((item) => item.key)
  const isGroup = (key: string): boolean => keys.some((knownKey) => knownKey.startsWith(`${key}.`))
  const knownVariables = [...variables, ...secretFiles, 'SVC_CONFIG_FILE', 'SVC_REGION']
  return [
    ...Object.keys(env)
      .filter((name) => name.startsWith('SVC_') && !knownVariables.includes(name))
      .map((name) =>
        nonSecretFiles.has(name)
          ? `${name} is not a known setting; only secrets are read from files, so set ${nonSecretFiles.get(name)}`
          : `${name} is not a known setting${suggestName(name, knownVariables)}`,
      ),
    ...[...fromFile]
      // Ignore a group without keys: it sets nothing. For example, all its keys may be commented out.
      .filter(([key, value]) => !keys.includes(key) && !(value === null && isGroup(key)))
      .map(([key]) => `${key} is not a known key of the configuration file${suggestName(key, keys)}`),
  ]
}

function suggestName(name: string, knownNames: readonly string[]): string {
  const maxEdits = Math.min(3, Math.max(1, Math.floor(name.replace(/^SVC_/, '').length / 3)))
  const [nearestName] = knownNames
    // This check also limits the work for very long names.
    .filter((candidate) => Math.abs(candidate.length - name.length) <= maxEdits)
    .map((candidate) => ({ candidate, edits: countEdits(name, candidate) }))
    .filter(({ edits }) => edits <= maxEdits)
    .toSorted((a, b) => a.edits - b.edits)
  return nearestName === undefined ? '' : `; did you mean ${nearestName.candidate}?`
}

/** Returns the number of insertions, deletions, replacements and swaps of adjacent characters that turn a into b. */
function countEdits(a: string, b: string): number {
  let secondLastRow: number[] = []
  let lastRow = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replacedCost = getCost(lastRow, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swappedCost = isSwap ? getCost(secondLastRow, j - 2) + 1 : replacedCost
      row.push(Math.min(getCost(lastRow, j) + 1, getCost(row, j - 1) + 1, replacedCost, swappedCost))
    }
    ;[secondLastRow, lastRow] = [lastRow, row]
  }
  return getCost(lastRow, b.length)
}

const getCost = (row: readonly number[], index: number): number => row[index] as number
