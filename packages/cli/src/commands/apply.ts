// apply: updates the Manager to the state that a file declares. It shows a plan first and never deletes anything.
import path from 'node:path'
import type { Command } from 'commander'
import { readDocument } from '../apply/document.ts'
import { type FileDigest, foldersOf } from '../apply/named-files.ts'
import { createPlan } from '../apply/plan.ts'
import { type FieldChange, Ids, type NamedFile, type Step } from '../apply/step.ts'
import { type Color, paintOf } from '../colors.ts'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { remark, serialize } from '../output.ts'
import { printable } from '../printable.ts'
import { counted } from '../words.ts'
import type { Terminal } from '../terminal.ts'

type Options = {
  file: string
  plan?: boolean
  yes?: boolean
  tokensDir?: string
  secrets?: boolean
  allowOutside?: string[]
}

/** Adds `apply`. */
export function addApplyCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'apply',
    summary: 'Applies a YAML file that declares the desired state.',
    description:
      'Applies a YAML file that declares projects, tenants, apps, machine users, endpoints, triggers and settings. It shows a plan, asks for confirmation, and never deletes anything. A second run changes nothing.',
    examples: [
      'apply -f shop.yaml --plan',
      'apply -f shop.yaml',
      'apply -f shop.yaml --yes --tokens-dir tokens',
    ],
  })
    .requiredOption('-f, --file <file>', 'the file; file names in it are relative to it')
    .option('--plan', 'show the plan without changing anything')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--tokens-dir <folder>', 'the folder for tokens of new machine users')
    .option('--secrets', 'send passwords and tokens of endpoints again')
    .option('--allow-outside <folder>', 'also allow files from this folder; may be repeated', addFolder)
  setAction<Options>(command, terminal, apply)
}

function addFolder(folder: string, others: string[] = []): string[] {
  return [...others, folder]
}

async function apply(context: Context, _args: string[], options: Options): Promise<void> {
  const { terminal, format, signal } = context
  const folders = await foldersOf(options.file, options.allowOutside ?? [])
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
  const open = steps.filter(({ action }) => action !== 'unchanged')
  if (format === 'table') showPlan(terminal, steps)
  else if (options.plan === true) terminal.stdout.write(serialize({ steps: steps.map(shownStep) }, format))
  if (options.plan === true) return
  if (open.length > 0) {
    await confirm(terminal, `Apply ${counted(open.length, 'step')}?`, options.yes === true)
    await runSteps(terminal, open, signal)
  }
  if (format !== 'table')
    terminal.stdout.write(serialize({ steps: steps.map(shownStep), applied: open.length }, format))
  else
    terminal.stdout.write(
      open.length === 0 ? 'Nothing to do.\n' : `Applied ${counted(open.length, 'step')}.\n`,
    )
}

/** Runs the steps one after the other. An interrupt takes effect between two steps; a running step finishes. */
async function runSteps(terminal: Terminal, steps: readonly Step[], signal: AbortSignal): Promise<void> {
  for (const [done, step] of steps.entries()) {
    const progress = `${done} of ${steps.length} steps are done. Run the command again to resume.`
    if (signal.aborted) throw new Failure(kindOf(signal), `Interrupted: ${progress}`)
    try {
      await step.run()
    } catch (error) {
      remark(terminal, `${step.kind} ${step.path} failed; ${progress}`)
      throw error
    }
    remark(terminal, `${marks[step.action][0]} ${step.kind} ${step.path}: done`)
  }
}

/** Distinguishes Ctrl-C from SIGTERM, which have different exit codes. */
const kindOf = ({ reason }: AbortSignal): Failure['kind'] =>
  reason instanceof Failure ? reason.kind : 'interrupted'

const marks: Readonly<Record<Step['action'], readonly [string, Color]>> = {
  create: ['+', 'green'],
  update: ['~', 'yellow'],
  unchanged: ['=', 'dim'],
}

function showPlan(terminal: Terminal, steps: readonly Step[]): void {
  const paint = paintOf(terminal, terminal.stdout)
  for (const { action, kind, path: which, changes, notSent = [] } of steps) {
    const [mark, color] = marks[action]
    terminal.stdout.write(`${paint(color, printable(`${mark} ${kind} ${which}`))}\n`)
    for (const change of changes) terminal.stdout.write(`    ${printable(changeText(action, change))}\n`)
    for (const read of notSent) terminal.stdout.write(`    ${printable(`${named(read)}: not sent`)}\n`)
  }
  const count = (action: Step['action']): number => steps.filter((step) => step.action === action).length
  terminal.stdout.write(
    `${count('create')} to create, ${count('update')} to update, ${count('unchanged')} unchanged.\n`,
  )
}

const maxShown = 60
const isDigest = (value: unknown): value is FileDigest =>
  typeof value === 'object' && value !== null && 'sha256' in value
const shown = (value: unknown): string => {
  if (isDigest(value)) return `${counted(value.bytes, 'byte')}, SHA-256 ${value.sha256}`
  const text = JSON.stringify(value) ?? ''
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}
const named = ({ field, file }: NamedFile): string => (file === undefined ? field : `${field} (${file})`)
const changeText = (action: Step['action'], { before, after, ...field }: FieldChange): string =>
  action === 'create'
    ? `${named(field)}: ${shown(after)}`
    : `${named(field)}: ${shown(before)} -> ${shown(after)}`

const shownStep = ({ action, kind, path: which, changes, notSent = [] }: Step) => ({
  action,
  kind,
  path: which,
  changes,
  ...(notSent.length === 0 ? {} : { notSent }),
})
