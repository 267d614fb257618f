// Prints plans: one line for each step, followed by its changes.
import { type Color, type Paint, createPaint } from '../colors.ts'
import { escapeControlCharacters } from '../printable.ts'
import type { Terminal } from '../terminal.ts'
import { formatCount } from '../words.ts'
import type { FileDigest } from './named-files.ts'
import type { FieldChange, NamedFile, Step } from './step.ts'

const marks: Readonly<Record<Step['action'], readonly [string, Color]>> = {
  create: ['+', 'green'],
  update: ['~', 'yellow'],
  delete: ['-', 'red'],
  unchanged: ['=', 'dim'],
}

/** Returns the line that names a step, such as "+ tenant shop/acme". */
export const formatStep = ({ action, kind, path }: Step): string => `${marks[action][0]} ${kind} ${path}`

/** Prints the first line of a step, and the objects that the Manager deletes together with the object of the step. */
export function showStep(terminal: Terminal, step: Step, paint: Paint): void {
  const [mark, color] = marks[step.action]
  const writeLine = (text: string): void =>
    void terminal.stdout.write(`${paint(color, escapeControlCharacters(text))}\n`)
  writeLine(formatStep(step))
  for (const { kind, path } of step.contents ?? []) writeLine(`    ${mark} ${kind} ${path}`)
}

export function showPlan(terminal: Terminal, steps: readonly Step[]): void {
  const paint = createPaint(terminal, terminal.stdout)
  for (const step of steps) {
    const { action, changes, notSent = [] } = step
    showStep(terminal, step, paint)
    for (const change of changes)
      terminal.stdout.write(`    ${escapeControlCharacters(formatChange(action, change))}\n`)
    for (const file of notSent)
      terminal.stdout.write(`    ${escapeControlCharacters(`${formatFieldName(file)}: not sent`)}\n`)
  }
  terminal.stdout.write(`${formatCounts(steps)}\n`)
}

/** Returns the number of objects that the steps delete. */
export const countDeletions = (steps: readonly Step[]): number =>
  steps.reduce((sum, { action, contents = [] }) => sum + (action === 'delete' ? 1 + contents.length : 0), 0)

function formatCounts(steps: readonly Step[]): string {
  const countSteps = (action: Step['action']): number => steps.filter((step) => step.action === action).length
  const deletions = countDeletions(steps)
  const counts = [
    `${countSteps('create')} to create`,
    `${countSteps('update')} to update`,
    ...(deletions === 0 ? [] : [`${deletions} to delete`]),
    `${countSteps('unchanged')} unchanged`,
  ]
  return `${counts.join(', ')}.`
}

const maxShownLength = 60
const isDigest = (value: unknown): value is FileDigest =>
  typeof value === 'object' && value !== null && 'sha256' in value
const formatValue = (value: unknown): string => {
  if (isDigest(value)) return `${formatCount(value.bytes, 'byte')}, SHA-256 ${value.sha256}`
  const text = JSON.stringify(value) ?? ''
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text
}
export const formatFieldName = ({ field, file }: NamedFile): string =>
  file === undefined ? field : `${field} (${file})`
export const formatChange = (action: Step['action'], { before, after, ...field }: FieldChange): string =>
  action === 'create'
    ? `${formatFieldName(field)}: ${formatValue(after)}`
    : `${formatFieldName(field)}: ${formatValue(before)} -> ${formatValue(after)}`

/** Returns the fields of a step that programs read. */
export const serializeStep = ({ action, kind, path, changes, notSent = [], contents = [] }: Step) => ({
  action,
  kind,
  path,
  changes,
  ...(notSent.length === 0 ? {} : { notSent }),
  ...(contents.length === 0 ? {} : { contents }),
})
