// apply: makes the Manager match the state that a file declares. It shows a plan first and never deletes
// anything.
import path from 'node:path'
import type { Command } from 'commander'
import { readDocument } from '../apply/document.ts'
import { type FileDigest, resolveFolders } from '../apply/named-files.ts'
import { createPlan } from '../apply/plan.ts'
import { type FieldChange, Ids, type NamedFile, type Step } from '../apply/step.ts'
import { type Color, createPaint } from '../colors.ts'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { printRemark, serialize } from '../output.ts'
import { escapeControlCharacters } from '../printable.ts'
import { formatCount } from '../words.ts'
import type { Terminal } from '../terminal.ts'

type Options = {
  file: string
  plan?: boolean
  yes?: boolean
  tokensDir?: string
  secrets?: boolean
  allowOutside?: string[]
}

export function addApplyCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'apply',
    summary: 'Apply a YAML file that declares the desired state.',
    description:
      'Apply a YAML file that declares projects, tenants, apps, machine users, endpoints, triggers and settings. The command shows a plan, asks for confirmation, and never deletes anything. A second run changes nothing.',
    examples: [
      'apply -f shop.yaml --plan',
      'apply -f shop.yaml',
      'apply -f shop.yaml --yes --tokens-dir tokens',
    ],
  })
    .requiredOption('-f, --file <file>', 'the file to apply; file names in it are relative to its folder')
    .option('--plan', 'show the plan without changing anything')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--tokens-dir <folder>', 'the folder for the tokens of new machine users')
    .option('--secrets', 'send the passwords and tokens of endpoints again')
    .option('--allow-outside <folder>', 'also allow files in this folder; may be repeated', addFolder)
  setAction<Options>(command, terminal, apply)
}

function addFolder(folder: string, previousFolders: string[] = []): string[] {
  return [...previousFolders, folder]
}

async function apply(context: Context, _args: string[], options: Options): Promise<void> {
  const { terminal, format, signal } = context
  const folders = await resolveFolders(options.file, options.allowOutside ?? [])
  const nodes = await readDocument(options.file, folders)
  const connection = await context.connect()
  const steps = await createPlan(
    {
      connection,
      signal,
      ids: new Ids(),
      folders,
      documentFolder: path.resolve(path.dirname(options.file)),
      tokensFolder: options.tokensDir === undefined ? null : path.resolve(options.tokensDir),
      withSecrets: options.secrets === true,
    },
    nodes,
  )
  const pendingSteps = steps.filter(({ action }) => action !== 'unchanged')
  if (format === 'table') showPlan(terminal, steps)
  else if (options.plan === true)
    terminal.stdout.write(serialize({ steps: steps.map(serializeStep) }, format))
  if (options.plan === true) return
  if (pendingSteps.length > 0) {
    await confirm(terminal, `Apply ${formatCount(pendingSteps.length, 'step')}?`, options.yes === true)
    await runSteps(terminal, pendingSteps, signal)
  }
  if (format !== 'table')
    terminal.stdout.write(
      serialize({ steps: steps.map(serializeStep), applied: pendingSteps.length }, format),
    )
  else
    terminal.stdout.write(
      pendingSteps.length === 0
        ? 'Nothing to do.\n'
        : `Applied ${formatCount(pendingSteps.length, 'step')}.\n`,
    )
}

/** Runs the steps one at a time. An interrupt takes effect after the running step has finished. */
async function runSteps(terminal: Terminal, steps: readonly Step[], signal: AbortSignal): Promise<void> {
  for (const [doneCount, step] of steps.entries()) {
    const progress = `completed ${doneCount} of ${steps.length} steps. Run the command again to resume.`
    if (signal.aborted) throw new Failure(getFailureKind(signal), `Interrupted: ${progress}`)
    try {
      await step.run()
    } catch (error) {
      printRemark(terminal, `${step.kind} ${step.path} failed; ${progress}`)
      throw error
    }
    printRemark(terminal, `${marks[step.action][0]} ${step.kind} ${step.path}: done`)
  }
}

/** Returns the failure kind, because Ctrl-C and SIGTERM have different exit codes. */
const getFailureKind = ({ reason }: AbortSignal): Failure['kind'] =>
  reason instanceof Failure ? reason.kind : 'interrupted'

const marks: Readonly<Record<Step['action'], readonly [string, Color]>> = {
  create: ['+', 'green'],
  update: ['~', 'yellow'],
  unchanged: ['=', 'dim'],
}

function showPlan(terminal: Terminal, steps: readonly Step[]): void {
  const paint = createPaint(terminal, terminal.stdout)
  for (const { action, kind, path: stepPath, changes, notSent = [] } of steps) {
    const [mark, color] = marks[action]
    terminal.stdout.write(`${paint(color, escapeControlCharacters(`${mark} ${kind} ${stepPath}`))}\n`)
    for (const change of changes)
      terminal.stdout.write(`    ${escapeControlCharacters(formatChange(action, change))}\n`)
    for (const file of notSent)
      terminal.stdout.write(`    ${escapeControlCharacters(`${formatFieldName(file)}: not sent`)}\n`)
  }
  const countSteps = (action: Step['action']): number => steps.filter((step) => step.action === action).length
  terminal.stdout.write(
    `${countSteps('create')} to create, ${countSteps('update')} to update, ${countSteps('unchanged')} unchanged.\n`,
  )
}

const maxShownLength = 60
const isDigest = (value: unknown): value is FileDigest =>
  typeof value === 'object' && value !== null && 'sha256' in value
const formatValue = (value: unknown): string => {
  if (isDigest(value)) return `${formatCount(value.bytes, 'byte')}, SHA-256 ${value.sha256}`
  const text = JSON.stringify(value) ?? ''
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text
}
const formatFieldName = ({ field, file }: NamedFile): string =>
  file === undefined ? field : `${field} (${file})`
const formatChange = (action: Step['action'], { before, after, ...field }: FieldChange): string =>
  action === 'create'
    ? `${formatFieldName(field)}: ${formatValue(after)}`
    : `${formatFieldName(field)}: ${formatValue(before)} -> ${formatValue(after)}`

const serializeStep = ({ action, kind, path: stepPath, changes, notSent = [] }: Step) => ({
  action,
  kind,
  path: stepPath,
  changes,
  ...(notSent.length === 0 ? {} : { notSent }),
})
