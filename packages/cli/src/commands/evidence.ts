// evidence: runs the named queries for auditors.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { send, sendForJson } from '@manager/client'
import { type Command, Option } from 'commander'
import { addCommand, setAction } from '../context.ts'
import { type Row, printRemark, printRow, printRows } from '../output.ts'
import { replacePrivateFile } from '../private-files.ts'
import { parseTime } from '../times.ts'
import type { Terminal } from '../terminal.ts'

type Query = { name: string; title: string; columns: readonly string[] }
type Evidence = { columns: readonly string[]; rows: readonly Row[]; truncated: boolean } & Row
type Options = { from?: string; to?: string; format?: string; file?: string }
const queryTimeoutMs = 600_000

export function addEvidenceCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'evidence',
    description: 'Evidence: the answers to the questions of an audit. For administrators only.',
    examples: ['evidence list', 'evidence run access-grants --from 2026-01-01'],
  })
  const list = addCommand(group, {
    name: 'list',
    description: 'List the queries and the requirements that they provide evidence for.',
    examples: ['evidence list'],
  })
  setAction(list, terminal, async (context) => {
    const connection = await context.connect()
    const request = { method: 'GET', path: '/api/audit/evidence', signal: context.signal, headers: json }
    const { queries } = await sendForJson<{ queries: Query[] }>(connection, request)
    printRows(terminal, context.format, ['name', 'title', 'controls'], queries)
  })
  addRunCommand(group, terminal)
}

const json = { accept: 'application/json' }

/** Returns the columns that fit a terminal: those that people read, and that have a value in any row. */
const selectColumns = ({ columns, rows }: Evidence): string[] =>
  columns.filter(
    (column) =>
      !/_(id|type|agent|address)$|^(seq|changes|metadata)$/.test(column) &&
      rows.some((row) => row[column] !== null && row[column] !== ''),
  )

function addRunCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'run',
    description: 'Run a query and show its rows, or write them to a file.',
    examples: [
      'evidence run access-grants --from 2026-01-01 --to 2026-04-01',
      'evidence run access-grants --format csv --file grants.csv',
    ],
  })
    .argument('<query>', 'the query, by its name from svc evidence list')
    .option('--from <time>', 'rows from this time (RFC 3339) or day (UTC)', parseTime)
    .option('--to <time>', 'rows before this time or day', parseTime)
    .addOption(
      new Option('--format <format>', 'the format of the file').choices(['json', 'csv']).default('json'),
    )
    .option('--file <file>', 'write to a file that only you can read')
  setAction<Options>(command, terminal, async (context, [name = ''], { format = 'json', file, ...range }) => {
    const connection = await context.connect({ timeoutMs: queryTimeoutMs })
    const query = new URLSearchParams({ format })
    for (const [key, value] of Object.entries(range)) if (value !== undefined) query.set(key, value)
    const path = `/api/audit/evidence/${encodeURIComponent(name)}?${query.toString()}`
    const request = { method: 'GET', path, signal: context.signal, headers: { accept: '*/*' } }
    if (file === undefined && format === 'json') {
      const evidence = await sendForJson<Evidence>(connection, request)
      if (context.format !== 'table') return printRow(terminal, context.format, evidence)
      printRows(terminal, context.format, selectColumns(evidence), evidence.rows)
      if (evidence.rows.length > 0) printRemark(terminal, 'For all columns, pass --json or --file.')
      if (evidence.truncated)
        printRemark(terminal, 'There are more rows. Narrow the range with --from and --to.')
      return
    }
    const { body } = await send(connection, request)
    const stream = Readable.from((body ?? []) as AsyncIterable<Uint8Array>)
    const options = { signal: context.signal }
    if (file === undefined) return pipeline(stream, terminal.stdout, { ...options, end: false })
    await replacePrivateFile(file, (handle) => handle.writeFile(stream, options))
    printRemark(terminal, `Wrote ${file}.`)
  })
}
