// The commands of `pilets` that publish and manage versions.
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
import { printResult, printRow, printRemark } from '../output.ts'
import { type ParentOptions, addParentOptions, getProject } from '../parents.ts'
import { createProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'

type Reference = { name: string; version: string }
type PublishOptions = ParentOptions & { as?: Reference; description?: string; staged?: boolean }
const uploadTimeoutMs = 600_000
const referenceArgument = '<name@version>'

export function addPiletCommands(group: Command, terminal: Terminal): void {
  addPublishCommand(group, terminal)
  const get = addVersionCommand(group, 'get', 'Show a version of a pilet.')
  setAction<ParentOptions>(get, terminal, async (context, [versionText = ''], options) => {
    const { connection, key } = await getVersionKey(context, versionText, options)
    const { piletPackage } = await graphql(connection, getPiletDocument, key, { signal: context.signal })
    printRow(terminal, context.format, piletPackage)
  })
  const update = addVersionCommand(group, 'update', 'Change the description of a version.').requiredOption(
    '--description <text>',
    'a short description',
  )
  setAction<ParentOptions & { description: string }>(
    update,
    terminal,
    async (context, [versionText = ''], options) => {
      const { connection, key } = await getVersionKey(context, versionText, options)
      const variables = { ...key, description: options.description }
      const result = await graphql(connection, updatePiletDocument, variables, { signal: context.signal })
      printResult(terminal, context.format, `Updated pilet ${versionText}.`, result.updatePiletPackage)
    },
  )
  const enable = addVersionCommand(group, 'enable', 'Enable a version.')
  setAction<ParentOptions>(enable, terminal, async (context, [versionText = ''], options) => {
    const { connection, key } = await getVersionKey(context, versionText, options)
    const result = await graphql(connection, enablePiletDocument, key, { signal: context.signal })
    printResult(terminal, context.format, `Enabled pilet ${versionText}.`, result.enablePiletPackage)
  })
  for (const [name, description] of [
    ['disable', 'Disable a version.'],
    ['delete', 'Disable a version; same as disable. The version stays stored and cannot be published again.'],
  ] as const) {
    const command = addVersionCommand(group, name, description).option(
      '-y, --yes',
      'do not ask for confirmation',
    )
    setAction<ParentOptions & { yes?: boolean }>(
      command,
      terminal,
      async (context, [versionText = ''], options) => {
        const { connection, key } = await getVersionKey(context, versionText, options)
        await confirm(terminal, `Disable pilet ${versionText}?`, options.yes === true)
        const result = await graphql(connection, disablePiletDocument, key, { signal: context.signal })
        printResult(terminal, context.format, `Disabled pilet ${versionText}.`, result.disablePiletPackage)
      },
    )
  }
}

function addVersionCommand(group: Command, name: string, description: string): Command {
  const exampleOptions = name === 'update' ? ' --description "The cart"' : ''
  const examples = [`pilets ${name} @shop/cart@1.2.0 -p shop${exampleOptions}`]
  const command = addCommand(group, { name, description, examples })
  return addParentOptions(command.argument(referenceArgument, 'the pilet and its version'), 'project')
}

/** Returns the key of the version that the text names. */
export async function getVersionKey(
  context: Context,
  versionText: string,
  options: ParentOptions,
  connectOptions?: { timeoutMs: number },
) {
  const { name, version } = parseReference(versionText)
  const connection = await context.connect(connectOptions)
  const { id } = await getProject(context, connection, options)
  return { connection, key: { projectId: id, name, version } }
}

/** Parses a pilet version, such as @shop/cart@1.2.0. */
export function parseReference(text: string): Reference {
  const separator = text.lastIndexOf('@')
  // An at sign at the start belongs to a scope, not to a version.
  if (separator < 1 || separator === text.length - 1)
    throw new Failure('usage', `${text} is not a pilet version. Use name@version, such as @shop/cart@1.2.0.`)
  return { name: text.slice(0, separator), version: text.slice(separator + 1) }
}

function addPublishCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'publish',
    description:
      'Upload a version: an npm package archive, or a script with --as. A published version cannot be replaced.',
    examples: [
      'pilet publish shop-cart-1.2.0.tgz -p shop',
      'pilet publish index.js -p shop --as @shop/cart@1.2.0',
    ],
  })
    .argument('<file>', 'the package or script')
    .option(
      `--as ${referenceArgument}`,
      'the name and version of the pilet (default: from package.json)',
      parseReference,
    )
    .option('--description <text>', 'a short description')
    .option('--staged', 'do not enable the version yet')
  addParentOptions(command, 'project')
  setAction<PublishOptions>(command, terminal, publishFile)
}

async function publishFile(context: Context, [file = '']: string[], options: PublishOptions): Promise<void> {
  const { terminal, format, signal } = context
  const stats = await stat(file).catch(() => null)
  if (stats?.isFile() !== true) throw new Failure('usage', `${file} does not exist or is not a regular file.`)
  const { name, version } = options.as ?? (await readPackedReference(file))
  const connection: Connection = await context.connect({ timeoutMs: uploadTimeoutMs })
  const { id: projectId } = await getProject(context, connection, options)
  const progress = createProgress(terminal.stderr, `${name}@${version}`)
  try {
    const publishedPilet = await publishPilet(connection, {
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
    printResult(
      terminal,
      format,
      `Published ${name}@${version}, ${publishedPilet.size} bytes, SHA-256 ${publishedPilet.hash}.`,
      publishedPilet,
    )
    if (options.staged !== true && publishedPilet.enabled === false)
      printRemark(
        terminal,
        `The version is disabled because you are not allowed to enable versions. Ask a developer of the project to run: svc pilets enable ${name}@${version}`,
      )
  } catch (error) {
    progress?.end()
    throw error
  }
}

async function readPackedReference(file: string): Promise<Reference> {
  const manifest = await readPackedManifest(file)
  const { name, version } = manifest ?? {}
  if (typeof name !== 'string' || typeof version !== 'string')
    throw new Failure('usage', `${file} contains no pilet name and version. Pass --as <name>@<version>.`)
  return { name, version }
}
