// audit: lists the audit trail of a project, and exports the complete trail.
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Connection, ConnectionError, send } from '@manager/client'
import { listAuditLogsDocument } from '@manager/client/documents'
import { type Command, Option } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { followAudit } from '../follow/follow-commands.ts'
import { type Row, printRemark } from '../output.ts'
import { type ParentOptions, getProject } from '../parents.ts'
import { getUser } from '../people.ts'
import { escapeLines } from '../printable.ts'
import { replacePrivateFile } from '../private-files.ts'
import { addListCommand } from '../resource-commands.ts'
import type { Resource } from '../resource.ts'
import { isId } from '../rows.ts'
import { parseTime } from '../times.ts'
import type { Terminal } from '../terminal.ts'

type ExportOptions = ParentOptions & {
  format: string
  from?: string
  to?: string
  entityType?: string
  action?: string
  user?: string
  file?: string
}
const hourMs = 3_600_000

const audit: Resource = {
  name: 'audit',
  singular: 'audit entry',
  description: 'The audit trail: who changed what, and when',
  parent: 'project',
  keys: ['seq'],
  columns: ['createdAt', 'entityType', 'action', 'description', 'principalType', 'principal'],
  fields: [],
  list: { document: listAuditLogsDocument, parent: 'projectID' },
}

export function addAuditCommands(program: Command, terminal: Terminal): Command {
  const group = addCommand(program, {
    name: 'audit',
    description: audit.description,
    examples: ['audit list -p shop', 'audit export --format ndjson --file trail.ndjson'],
  })
  addListCommand(group, terminal, audit, {
    description: 'List the audit entries of a project, newest first.',
    limit: 50,
    formatRow: (row, format) => {
      const user = (row['user'] as Row | null)?.['externalUsername'] ?? null
      // Tables show the user name, because people know users by name. Programs get the id.
      return { ...row, user, principal: (format === 'table' ? user : null) ?? row['principal'] }
    },
    follow: (context, connection, { parentId: projectID, filters }, view) =>
      followAudit(context, connection, { projectID, filters }, view),
  })
  addExportCommand(group, terminal)
  return group
}

function addExportCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'export',
    description:
      'Export the audit trail of one project or of all projects. For administrators only. The trail also records every export.',
    examples: [
      'audit export --format ndjson --file trail.ndjson',
      'audit export --format csv --from 2026-01-01 > trail.csv',
    ],
  })
    .addOption(
      new Option('--format <format>', 'the format; use ndjson if you want to verify the export')
        .choices(['json', 'ndjson', 'csv'])
        .default('ndjson'),
    )
    .option('-p, --project <project>', 'the project, by slug or id (default: all projects)')
    .option('--from <time>', 'export entries from this time (RFC 3339) or day (UTC)', parseTime)
    .option('--to <time>', 'export entries before this time or day', parseTime)
    .option('--entity-type <type>', 'export only entries about this entity type')
    .option('--action <action>', 'export only entries with this action')
    .option('--user <user>', 'export only changes by this user, by e-mail address, user name or id')
    .option('--file <file>', 'write to a file that only you can read')
  setAction<ExportOptions>(command, terminal, exportTrail)
}

async function exportTrail(context: Context, _args: string[], options: ExportOptions): Promise<void> {
  const connection = await context.connect({ timeoutMs: hourMs })
  const query = new URLSearchParams({ format: options.format })
  const filters = {
    from: options.from,
    to: options.to,
    entity_type: options.entityType,
    action: options.action,
    user_id: options.user === undefined ? undefined : await getUserId(context, connection, options.user),
  }
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value)
  if (options.project !== undefined)
    query.set('project_id', (await getProject(context, connection, options)).id)
  const path = `/api/audit/export?${query.toString()}`
  const response = await send(connection, { method: 'GET', path, signal: context.signal })
  if (response.body === null) return
  const body = Readable.from(response.body as AsyncIterable<Uint8Array>)
  try {
    await (options.file === undefined
      ? writeToOutput(context, body)
      : writeToFile(context, body, options.file))
  } catch (error) {
    if (context.signal.aborted || (error as NodeJS.ErrnoException).syscall !== undefined) throw error
    throw new ConnectionError('the export is incomplete', { cause: error })
  }
}

/** The user may have been deleted, so an id is not looked up. */
const getUserId = async ({ signal }: Context, connection: Connection, named: string): Promise<string> =>
  isId(named) ? named : String((await getUser(connection, named, { signal }))['id'])

async function writeToOutput({ terminal: { stdout }, signal }: Context, body: Readable): Promise<void> {
  const stages = stdout.isTTY === true ? [body, createTerminalFilter(), stdout] : [body, stdout]
  await pipeline(stages, { signal, end: false })
}

function createTerminalFilter(): Transform {
  const decoder = new TextDecoder()
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) =>
      done(null, escapeLines(decoder.decode(chunk, { stream: true }))),
    // An incomplete character at the end of the body becomes U+FFFD.
    flush: (done) => done(null, escapeLines(decoder.decode())),
  })
}

/** Writes to a temporary file first, so that the file appears under its name only when it is complete. */
async function writeToFile({ terminal, signal }: Context, body: Readable, file: string): Promise<void> {
  await replacePrivateFile(file, (handle) => handle.writeFile(body as AsyncIterable<Uint8Array>, { signal }))
  printRemark(terminal, `Wrote ${file}.`)
}
