// The commands of `pilets` that pin versions, show where a pilet is used, and download a version.
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { graphql, send } from '@manager/client'
import { getPiletUsageDocument, setPiletPinsDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { type Row, printResult, printRemark, printRows } from '../output.ts'
import { type ParentOptions, addParentOptions, getProject } from '../parents.ts'
import { replacePrivateFile } from '../private-files.ts'
import { addScopeOptions } from '../scopes.ts'
import { readSettings, toPrintableSettings } from '../settings.ts'
import { getVersionKey, parseReference } from './pilets.ts'
import { type LayerOptions, getLayer } from './settings.ts'
import type { Terminal } from '../terminal.ts'

const downloadTimeoutMs = 600_000
type Pins = { set?: { name: string; version: string }[]; unset?: string[] }

export function addPiletPinCommands(group: Command, terminal: Terminal): void {
  const pin = addCommand(group, {
    name: 'pin',
    description: 'Load this version of a pilet, instead of the newest one, in a project, tenant or app.',
    examples: ['pilets pin @shop/cart@1.2.0 -p shop', 'pilets pin @shop/cart@1.2.0 -p shop -t acme -a web'],
  }).argument('<name@version>', 'the pilet and its version')
  setAction<LayerOptions>(addScopeOptions(pin), terminal, async (context, [text = ''], options) => {
    const { name, version } = parseReference(text)
    const { title, row } = await setPins(context, options, { set: [{ name, version }] })
    printResult(terminal, context.format, `Pinned pilet ${name} to ${version} for ${title}.`, row)
  })
  const unpin = addCommand(group, {
    name: 'unpin',
    description: 'Remove the pin of a pilet, so that the inherited or the newest version is loaded.',
    examples: ['pilets unpin @shop/cart -p shop'],
  }).argument('<name>', 'the pilet')
  setAction<LayerOptions>(addScopeOptions(unpin), terminal, async (context, [name = ''], options) => {
    const { title, row } = await setPins(context, options, { unset: [name] })
    printResult(terminal, context.format, `Removed the pin of pilet ${name} for ${title}.`, row)
  })
  addUsageCommand(group, terminal)
  addDownloadCommand(group, terminal)
}

async function setPins(
  context: Context,
  options: LayerOptions,
  pins: Pins,
): Promise<{ title: string; row: Row }> {
  const { connection, layer, name } = await getLayer(context, options, 'ensure')
  const project = await getProject(context, connection, options)
  const { id: settingsId } = await readSettings(connection, layer, context)
  const variables = { projectId: project.id, changes: [{ settingsId, ...pins }] }
  const { setPiletPins } = await graphql(connection, setPiletPinsDocument, variables, context)
  const [settings] = setPiletPins
  return { title: name, row: settings === undefined ? {} : toPrintableSettings(settings) }
}

function addUsageCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'usage',
    description: 'Show which apps and tenants enable or pin a pilet.',
    examples: ['pilets usage @shop/cart -p shop'],
  }).argument('<name>', 'the pilet')
  addParentOptions(command, 'project')
  setAction<ParentOptions>(command, terminal, async (context, [name = ''], options) => {
    const connection = await context.connect()
    const project = await getProject(context, connection, options)
    const variables = { projectId: project.id, name }
    const { piletUsage } = await graphql(connection, getPiletUsageDocument, variables, context)
    const rows = context.format === 'table' ? piletUsage.entries.map(formatUsage) : piletUsage.entries
    printRows(terminal, context.format, ['layer', 'app', 'tenant', 'isEnabled', 'pinnedVersion'], rows)
    if (!piletUsage.isComplete) printRemark(terminal, 'The pilet is used in more layers than shown.')
  })
}

const getSlug = (value: unknown): unknown => (value as Row | null)?.['slug']
const formatUsage = (row: Row): Row => ({
  ...row,
  app: getSlug(row['application']),
  tenant: getSlug(row['tenant']),
})

function addDownloadCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'download',
    description: 'Download the package of a version to a file.',
    examples: ['pilets download @shop/cart@1.2.0 -p shop --file cart.tgz'],
  })
    .argument('<name@version>', 'the pilet and its version')
    .requiredOption('--file <file>', 'the file to write')
  addParentOptions(command, 'project')
  setAction<ParentOptions & { file: string }>(command, terminal, async (context, [text = ''], options) => {
    const { connection, key } = await getVersionKey(context, text, options, { timeoutMs: downloadTimeoutMs })
    const names = [key.projectId, key.name, key.version].map(encodeURIComponent).join('/')
    const request = { method: 'GET', path: `/pilets/${names}`, signal: context.signal }
    const response = await send(connection, request)
    const body = Readable.from((response.body ?? []) as AsyncIterable<Uint8Array>)
    await replacePrivateFile(options.file, (handle) => handle.writeFile(body, { signal: context.signal }))
    const { size: bytes } = await stat(options.file)
    const sentence = `Downloaded ${text} to ${options.file}.`
    printResult(terminal, context.format, sentence, { file: options.file, bytes })
  })
}
