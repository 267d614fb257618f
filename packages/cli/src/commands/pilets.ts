// What pilets have besides their list: versions, and how they come to the Manager.
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
import { type Context, addCommand, does } from '../context.ts'
import { Failure } from '../failures.ts'
import { readPackedManifest } from '../npm-package.ts'
import { printDone, printRow, remark } from '../output.ts'
import { type ParentOptions, addParentOptions, getProject } from '../parents.ts'
import { createProgress } from '../progress.ts'
import type { World } from '../world.ts'

type Reference = { name: string; version: string }
type PublishOptions = ParentOptions & { as?: Reference; description?: string; staged?: boolean }
const uploadTimeoutMs = 600_000
const reference = '<name@version>'

/** Adds the commands about versions of pilets. */
export function addPiletCommands(group: Command, world: World): void {
  addPublishCommand(group, world)
  const get = addVersionCommand(group, 'get', 'Shows a version.')
  does<ParentOptions>(get, world, async (context, [named = ''], options) => {
    const { connection, key } = await keyOf(context, named, options)
    const { piletPackage } = await graphql(connection, getPiletDocument, key, { signal: context.signal })
    printRow(world, context.format, piletPackage)
  })
  const update = addVersionCommand(group, 'update', 'Changes the description of a version.').requiredOption(
    '--description <text>',
    'what it is',
  )
  does<ParentOptions & { description: string }>(update, world, async (context, [named = ''], options) => {
    const { connection, key } = await keyOf(context, named, options)
    const variables = { ...key, description: options.description }
    const answer = await graphql(connection, updatePiletDocument, variables, { signal: context.signal })
    printDone(world, context.format, `Updated pilet ${named}.`, answer.updatePiletPackage)
  })
  const enable = addVersionCommand(group, 'enable', 'Puts a version into service.')
  does<ParentOptions>(enable, world, async (context, [named = ''], options) => {
    const { connection, key } = await keyOf(context, named, options)
    const answer = await graphql(connection, enablePiletDocument, key, { signal: context.signal })
    printDone(world, context.format, `Enabled pilet ${named}.`, answer.enablePiletPackage)
  })
  for (const [name, description] of [
    ['disable', 'Takes a version out of service.'],
    ['delete', 'The same as disable: versions stay stored, and their names are not given again.'],
  ] as const) {
    const command = addVersionCommand(group, name, description).option('-y, --yes', 'do not ask')
    does<ParentOptions & { yes?: boolean }>(command, world, async (context, [named = ''], options) => {
      const { connection, key } = await keyOf(context, named, options)
      await confirm(world, `Take pilet ${named} out of service?`, options.yes === true)
      const answer = await graphql(connection, disablePiletDocument, key, { signal: context.signal })
      printDone(world, context.format, `Disabled pilet ${named}.`, answer.disablePiletPackage)
    })
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
  // The at-sign of a scope is the first character.
  if (at < 1 || at === text.length - 1)
    throw new Failure('usage', `${text} is no version of a pilet. Write it as name@version: @shop/cart@1.2.0`)
  return { name: text.slice(0, at), version: text.slice(at + 1) }
}

function addPublishCommand(group: Command, world: World): void {
  const command = addCommand(group, {
    name: 'publish',
    description:
      'Uploads a version: a package that npm packed, or a script with --as. A version cannot be replaced.',
    examples: [
      'pilet publish shop-cart-1.2.0.tgz -p shop',
      'pilet publish index.js -p shop --as @shop/cart@1.2.0',
    ],
  })
    .argument('<file>', 'the package or script')
    .option(`--as ${reference}`, 'its name and version; from its package.json if not said', referenceOf)
    .option('--description <text>', 'what it is')
    .option('--staged', 'do not put it into service yet')
  addParentOptions(command, 'project')
  does<PublishOptions>(command, world, publishFile)
}

async function publishFile(context: Context, [file = '']: string[], options: PublishOptions): Promise<void> {
  const { world, format, signal } = context
  const found = await stat(file).catch(() => null)
  if (found?.isFile() !== true) throw new Failure('usage', `There is no file ${file}.`)
  const { name, version } = options.as ?? (await packedReference(file))
  const connection: Connection = await context.connect({ timeoutMs: uploadTimeoutMs })
  const { id: projectId } = await getProject(context, connection, options)
  const progress = createProgress(world.stderr, `${name}@${version}`)
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
      world,
      format,
      `Published ${name}@${version}, ${published.size} bytes, SHA-256 ${published.hash}.`,
      published,
    )
    if (options.staged !== true && published.enabled === false)
      remark(
        world,
        `It is disabled, because you may not enable versions. Ask a developer of the project to run: svc pilets enable ${name}@${version}`,
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
    throw new Failure('usage', `${file} does not say which pilet it is. Name it: --as <name>@<version>`)
  return { name, version }
}
