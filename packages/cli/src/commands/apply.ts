// apply: makes the Manager hold what a file says. It shows a plan first, and deletes nothing.
import path from 'node:path'
import type { Command } from 'commander'
import { readDocument } from '../apply/document.ts'
import { type FileDigest, foldersOf } from '../apply/named-files.ts'
import { makePlan } from '../apply/plan.ts'
import { type FieldChange, Ids, type NamedFile, type Step } from '../apply/step.ts'
import { type Color, paintOf } from '../colors.ts'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, does } from '../context.ts'
import { Failure } from '../failures.ts'
import { remark, serialize } from '../output.ts'
import { printable } from '../printable.ts'
import { counted } from '../words.ts'
import type { World } from '../world.ts'

type Options = {
  file: string
  plan?: boolean
  yes?: boolean
  tokensDir?: string
  secrets?: boolean
  allowOutside?: string[]
}

/** Adds `apply`. */
export function addApplyCommand(program: Command, world: World): void {
  const command = addCommand(program, {
    name: 'apply',
    summary: 'Makes the Manager hold what a YAML file says.',
    description:
      'Makes the Manager hold what a YAML file says: projects, tenants, apps, machine users, endpoints, triggers and settings. It shows a plan, asks, and deletes nothing. A second run has nothing to do.',
    examples: [
      'apply -f shop.yaml --plan',
      'apply -f shop.yaml',
      'apply -f shop.yaml --yes --tokens-dir tokens',
    ],
  })
    .requiredOption('-f, --file <file>', 'the file; other files in it are relative to it')
    .option('--plan', 'show what would be done, and do nothing')
    .option('-y, --yes', 'do not ask')
    .option('--tokens-dir <folder>', 'where tokens of new machine users are written')
    .option('--secrets', 'send passwords and tokens of endpoints again')
    .option(
      '--allow-outside <folder>',
      'let the file name files in this folder, besides its own; may be repeated',
      addFolder,
    )
  does<Options>(command, world, apply)
}

function addFolder(folder: string, others: string[] = []): string[] {
  return [...others, folder]
}

async function apply(context: Context, _args: string[], options: Options): Promise<void> {
  const { world, format, signal } = context
  const folders = await foldersOf(options.file, options.allowOutside ?? [])
  const nodes = await readDocument(options.file, folders)
  const connection = await context.connect()
  const steps = await makePlan(
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
  if (format === 'table') showPlan(world, steps)
  else if (options.plan === true) world.stdout.write(serialize({ steps: steps.map(shownStep) }, format))
  if (options.plan === true) return
  if (open.length > 0) {
    await confirm(world, `Apply ${counted(open.length, 'step')}?`, options.yes === true)
    await carryOut(world, open, signal)
  }
  if (format !== 'table')
    world.stdout.write(serialize({ steps: steps.map(shownStep), applied: open.length }, format))
  else
    world.stdout.write(open.length === 0 ? 'Nothing to do.\n' : `Applied ${open.length} of ${open.length}.\n`)
}

/** One after the other. A signal is heard between two steps: a step that has begun is finished. */
async function carryOut(world: World, steps: readonly Step[], signal: AbortSignal): Promise<void> {
  for (const [done, step] of steps.entries()) {
    const soFar = `${done} of ${steps.length} steps are done. Run it again to go on.`
    if (signal.aborted) throw new Failure(kindOf(signal), `Interrupted: ${soFar}`)
    try {
      await step.run()
    } catch (error) {
      remark(world, `${step.kind} ${step.path} failed; ${soFar}`)
      throw error
    }
    remark(world, `${marks[step.action][0]} ${step.kind} ${step.path}: done`)
  }
}

/** Whether Ctrl-C or SIGTERM ends it. */
const kindOf = ({ reason }: AbortSignal): Failure['kind'] =>
  reason instanceof Failure ? reason.kind : 'interrupted'

const marks: Readonly<Record<Step['action'], readonly [string, Color]>> = {
  create: ['+', 'green'],
  update: ['~', 'yellow'],
  unchanged: ['=', 'dim'],
}

function showPlan(world: World, steps: readonly Step[]): void {
  const paint = paintOf(world, world.stdout)
  for (const { action, kind, path: which, changes, notSent = [] } of steps) {
    const [mark, color] = marks[action]
    world.stdout.write(`${paint(color, printable(`${mark} ${kind} ${which}`))}\n`)
    for (const change of changes) world.stdout.write(`    ${printable(changeText(action, change))}\n`)
    for (const read of notSent) world.stdout.write(`    ${printable(`${named(read)}: not sent`)}\n`)
  }
  const count = (action: Step['action']): number => steps.filter((step) => step.action === action).length
  world.stdout.write(
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
