// Formats the change of a field for `svc diff`: one line for a short value, and a line-by-line comparison for a text.
import type { Pair } from '../field-options.ts'
import { formatChange, formatFieldName } from './show-plan.ts'
import type { FieldChange, Step } from './step.ts'

// Limits the time and the memory of a comparison, which grow with the product of the numbers of lines.
const maxComparisons = 4_000_000
const contextLines = 2
const maxShortLength = 60

/** Returns the lines that describe a change. Lines of a comparison start with two spaces and a mark. */
export function formatChangeLines(action: Step['action'], change: FieldChange): string[] {
  const { before, after } = change
  if (isPairs(before) && isPairs(after)) return formatPairChanges(change, before, after)
  if (typeof before !== 'string' || typeof after !== 'string') return [formatChange(action, change)]
  if (!isLong(before) && !isLong(after)) return [formatChange(action, change)]
  return [`${formatFieldName(change)}:`, ...compareLines(before.split('\n'), after.split('\n'))]
}

const isLong = (text: string): boolean => text.length > maxShortLength || text.includes('\n')

const isPairs = (value: unknown): value is readonly Pair[] =>
  Array.isArray(value) &&
  value.every((one) => typeof one === 'object' && one !== null && 'Key' in one && 'Value' in one)

function formatPairChanges(
  { field }: FieldChange,
  before: readonly Pair[],
  after: readonly Pair[],
): string[] {
  const [oldValues, newValues] = [toMap(before), toMap(after)]
  const keys = [...new Set([...oldValues.keys(), ...newValues.keys()])].toSorted()
  return keys
    .filter((key) => oldValues.get(key) !== newValues.get(key))
    .flatMap((key) =>
      formatChangeLines('update', {
        field: `${field}.${key}`,
        before: oldValues.get(key) ?? null,
        after: newValues.get(key) ?? null,
      }),
    )
}

const toMap = (pairs: readonly Pair[]): Map<string, string> =>
  new Map(pairs.map(({ Key, Value }) => [Key, Value]))

type Line = { mark: ' ' | '-' | '+'; text: string }
const toLines = (texts: readonly string[], mark: Line['mark']): Line[] =>
  texts.map((text) => ({ mark, text }))

/** Compares two texts line by line, and returns the changed lines with a few unchanged lines around them. */
export function compareLines(before: readonly string[], after: readonly string[]): string[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++
  const [oldMiddle, newMiddle] = [
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  ]
  const lines = [
    ...toLines(before.slice(0, start), ' '),
    ...compareMiddle(oldMiddle, newMiddle),
    ...toLines(before.slice(before.length - end), ' '),
  ]
  return selectChangedLines(lines)
}

function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  if (before.length * after.length > maxComparisons) return [...toLines(before, '-'), ...toLines(after, '+')]
  const width = after.length + 1
  // The cell of two positions is the length of the longest common subsequence of the rest of both texts.
  const lengths = new Uint32Array((before.length + 1) * width)
  const get = (row: number, column: number): number => lengths[row * width + column] ?? 0
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        before[row] === after[column]
          ? get(row + 1, column + 1) + 1
          : Math.max(get(row + 1, column), get(row, column + 1))
  const lines: Line[] = []
  let [row, column] = [0, 0]
  while (row < before.length && column < after.length)
    if (before[row] === after[column]) {
      lines.push({ mark: ' ', text: before[row++] ?? '' })
      column++
    } else if (get(row + 1, column) >= get(row, column + 1))
      lines.push({ mark: '-', text: before[row++] ?? '' })
    else lines.push({ mark: '+', text: after[column++] ?? '' })
  return [...lines, ...toLines(before.slice(row), '-'), ...toLines(after.slice(column), '+')]
}

function selectChangedLines(lines: readonly Line[]): string[] {
  const isShown = lines.map(() => false)
  for (const [index, { mark }] of lines.entries())
    if (mark !== ' ') isShown.fill(true, Math.max(0, index - contextLines), index + contextLines + 1)
  return lines.flatMap(({ mark, text }, index) => {
    if (isShown[index] === true) return [`  ${mark} ${text}`]
    return isShown[index - 1] === true ? ['  …'] : []
  })
}
