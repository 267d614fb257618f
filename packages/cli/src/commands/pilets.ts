// Additional commands of `pilets`: publish and manage versions.
import { openAsBlob } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type Connection, graphql, publishPilet } from '@manager/client'
import {
  disablePiletDocument,
  enablePiletDocument,
  getPiletDocument,
  updatePiletDocument,
} from '@manager/client/documents'
import type { Command } from 'commander'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { readPackedManifest } from '../npm-package.ts'
import { printDone, printRow, remark } from '../output.ts'
import { type ParentOptions, addParentOptions, getProject } from '../parents.ts'
import { createProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'

type Reference = { name: string; version: string }
type PublishOptions = ParentOptions & { as?: Reference; description?: string; staged?: boolean }
const uploadTimeoutMs = 600_000
const reference = '<name@version>'

/** Adds the commands for pilet versions. */
export function addPiletCommands(group: Command, terminal: Terminal): void {
  addPublishCommand(group, terminal)
  const get = addVersionCommand(group, 'get', 'Shows a version.')
  setAction<ParentOptions>(get, terminal, async (context, [named = ''], options) => {
    const { connection, key } = await keyOf(context, named, options)
    const { piletPackage } = await graphql(connection, getPiletDocument, key, { signal: context.signal })
    printRow(terminal, context.format, piletPackage)
  })
  const update = addVersionCommand(group, 'update', 'Changes the description of a version.').requiredOption(
    '--description <text>',
    'a short description',
  )
  setAction<ParentOptions & { description: string }>(
    update,
    terminal,
    async (context, [named = ''], options) => {
      const { connection, key } = await keyOf(context, named, options)
      const variables = { ...key, description: options.description }
      const answer = await graphql(connection, updatePiletDocument, variables, { signal: context.signal })
      printDone(terminal, context.format, `Updated pilet ${named}.`, answer.updatePiletPackage)
    },
  )
  const enable = addVersionCommand(group, 'enable', 'Enables a version.')
  setAction<ParentOptions>(enable, terminal, async (context, [named = ''], options) => {
    const { connection, key } = await keyOf(context, named, options)
    const answer = await graphql(connection, enablePiletDocument, key, { signal: context.signal })
    printDone(terminal, context.format, `Enabled pilet ${named}.`, answer.enablePiletPackage)
  })
  for (const [name, description] of [
    ['disable', 'Disables a version.'],
    ['delete', 'Same as disable: the version stays stored, and its name cannot be reused.'],
  ] as const) {
    const command = addVersionCommand(group, name, description).option(
      '-y, --yes',
      'do not ask for confirmation',
    )
    setAction<ParentOptions & { yes?: boolean }>(
      command,
      terminal,
      async (context, [named = ''], options) => {
        const { connection, key } = await keyOf(context, named, options)
        await confirm(terminal, `Disable pilet ${named}?`, options.yes === true)
        const answer = await graphql(connection, disablePiletDocument, key, { signal: context.signal })
        printDone(terminal, context.format, `Disabled pilet ${named}.`, answer.disablePiletPackage)
      },
    )
  }
}

function addVersionCommand(group: Command, name: string, description: string): Command {
  const more = name === 'update' ? ' --description "The cart"' : ''
  const examples = [`pilets ${name} @shop/cart@1.2.0 -p shop${more}`]
  const command = addCommand(group, { name, description, examples })
  return addParentOptions(command.argument(reference, 'the pilet and its version'), 'project')
}

async function keyOf(context: Context, named: string, options: ParentOptions) {
  const { name, version } = referenceOf(named)
  const connection = await context.connect()
  const { id } = await getProject(context, connection, options)
  return { connection, key: { projectId: id, name, version } }
}

function referenceOf(text: string): Reference {
  const at = text.lastIndexOf('@')
  // An at sign at index 0 belongs to a scope.
  if (at < 1 || at === text.length - 1)
    throw new Failure('usage', `${text} is not a pilet version. Use name@version, such as @shop/cart@1.2.0.`)
  return { name: text.slice(0, at), version: text.slice(at + 1) }
}

function addPublishCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'publish',
    description:
      'Uploads a version: an npm package archive, or a script with --as. A version cannot be replaced.',
    examples: [
      'pilet publish shop-cart-1.2.0.tgz -p shop',
      'pilet publish index.js -p shop --as @shop/cart@1.2.0',
    ],
  })
    .argument('<file>', 'the package or script')
    .option(`--as ${reference}`, 'its name and version (default: from its package.json)', referenceOf)
    .option('--description <text>', 'a short description')
    .option('--staged', 'do not enable it yet')
  addParentOptions(command, 'project')
  setAction<PublishOptions>(command, terminal, publishFile)
}

async function publishFile(context: Context, [file = '']: string[], options: PublishOptions): Promise<void> {
  const { terminal, format, signal } = context
  const found = await stat(file).catch(() => null)
  if (found?.isFile() !== true) throw new Failure('usage', `${file} does not exist or is not a regular file.`)
  const { name, version } = options.as ?? (await packedReference(file))
  const connection: Connection = await context.connect({ timeoutMs: uploadTimeoutMs })
  const { id: projectId } = await getProject(context, connection, options)
  const progress = createProgress(terminal.stderr, `${name}@${version}`)
  try {
    const published = await publishPilet(connection, {
      projectId,
      name,
      version,
      content: await openAsBlob(file),
      ...(options.description === undefined ? {} : { description: options.description }),
      enabled: options.staged !== true,
      ...(progress === null
        ? {}
        : { onProgress: ({ sentBytes, totalBytes }) => progress.show(sentBytes, totalBytes) }),
      signal,
    })
    progress?.end()
    printDone(
      terminal,
      format,
      `Published ${name}@${version}, ${published.size} bytes, SHA-256 ${published.hash}.`,
      published,
    )
    if (options.staged !== true && published.enabled === false)
      remark(
        terminal,
        `It is disabled because you are not allowed to enable versions. Ask a developer of the project to run: svc pilets enable ${name}@${version}`,
      )
  } catch (error) {
    progress?.end()
    throw error
  }
}

async function packedReference(file: string): Promise<Reference> {
  const manifest = await readPackedManifest(file)
  const { name, version } = manifest ?? {}
  if (typeof name !== 'string' || typeof version !== 'string')
    throw new Failure('usage', `${file} contains no pilet name and version. Pass --as <name>@<version>.`)
  return { name, version }
}
