// review: shows who has access, and records the decisions of a review in the audit trail.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Connection, send, sendForJson } from '@manager/client'
import { type Command, Option } from 'commander'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { type Row, printRemark, printResult, printRow, printRows } from '../output.ts'
import { type ParentOptions, getProject } from '../parents.ts'
import { readNamedFile, replacePrivateFile } from '../private-files.ts'
import { formatCount } from '../words.ts'
import type { Terminal } from '../terminal.ts'

type Entry = { entry_id: string; recommendation: string; flags: readonly string[] } & Row
type Report = {
  report_id: string
  population_hash: string
  generated_at: string
  entries: readonly Entry[]
} & Row
type ShowOptions = ParentOptions & { format: string; file?: string }
type AttestOptions = {
  decision: string
  comment?: string
  only?: string
  justification?: string
  yes?: boolean
}
const reportTimeoutMs = 600_000
const maxReportMegabytes = 64
const maxAttestedEntries = 10_000
const decisions = ['approve', 'modify', 'revoke']
const recommendations = ['revoke', 'review', 'keep']
const columns = ['recommendation', 'name', 'email', 'scope', 'role', 'flags', 'last_activity_at']

export function addReviewCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'review',
    description: 'Review: who has access, and your decisions about it. For administrators only.',
    examples: ['review show -p shop --file review.json', 'review attest review.json --decision approve'],
  })
  const show = addCommand(group, {
    name: 'show',
    description:
      'Show the complete access list of the installation or of a project, or write it to a file. Attest the file after you have reviewed it.',
    examples: ['review show', 'review show -p shop --file review.json'],
  })
    .option('-p, --project <project>', 'the project, by slug or id (default: the whole installation)')
    .addOption(
      new Option('--format <format>', 'the format of the file').choices(['json', 'csv']).default('json'),
    )
    .option('--file <file>', 'write to a file that only you can read')
  setAction<ShowOptions>(show, terminal, showReport)
  addAttestCommand(group, terminal)
}

async function showReport(context: Context, _args: string[], options: ShowOptions): Promise<void> {
  const { terminal, signal } = context
  const connection = await context.connect({ timeoutMs: reportTimeoutMs })
  const query = new URLSearchParams({ format: options.format })
  if (options.project !== undefined)
    query.set('project_id', (await getProject(context, connection, options)).id)
  const request = { method: 'GET', path: `/api/access/review?${query.toString()}`, signal }
  if (options.file === undefined && options.format === 'json') {
    const report = await sendForJson<Report>(connection, request)
    if (context.format !== 'table') return printRow(terminal, context.format, report)
    return printRows(terminal, context.format, columns, sortEntries(report.entries).map(formatEntry))
  }
  const { body } = await send(connection, request)
  const stream = Readable.from((body ?? []) as AsyncIterable<Uint8Array>)
  if (options.file === undefined) return pipeline(stream, terminal.stdout, { signal, end: false })
  await replacePrivateFile(options.file, (handle) => handle.writeFile(stream, { signal }))
  printRemark(
    terminal,
    `Wrote ${options.file}. To record your decision, run: svc review attest ${options.file}`,
  )
}

/** Returns the entries with the recommendation revoke first. */
const sortEntries = (entries: readonly Entry[]): Entry[] =>
  entries.toSorted(
    (one, other) =>
      recommendations.indexOf(one.recommendation) - recommendations.indexOf(other.recommendation),
  )
const formatEntry = (entry: Entry): Row => ({
  ...entry,
  scope: `${String(entry['scope_type'])} ${String(entry['scope_name'])}`.trim(),
})

function addAttestCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'attest',
    description:
      'Record your decision about the entries of a report in the audit trail. The command does not change access. The Manager rejects the attestation if access has changed since the report.',
    examples: [
      'review attest review.json --decision approve --comment "Q4 review"',
      'review attest review.json --decision revoke --only revoke',
    ],
  })
    .argument('<file>', 'the report, from svc review show --file')
    .addOption(new Option('--decision <decision>', 'your decision').choices(decisions).makeOptionMandatory())
    .option('--comment <text>', 'a comment')
    .addOption(
      new Option('--only <recommendation>', 'attest only entries with this recommendation').choices(
        recommendations,
      ),
    )
    .option('--justification <text>', 'the reason for the decision; needs --only')
    .option('-y, --yes', 'do not ask for confirmation')
  setAction<AttestOptions>(command, terminal, async (context, [file = ''], options) => {
    const report = parseReport(await readNamedFile(file, maxReportMegabytes), file)
    const entries = selectEntries(report, options)
    const count = formatCount(entries?.length ?? report.entries.length, 'entry', 'entries')
    const question = `Attest ${count} of the report of ${report.generated_at} with the decision ${options.decision}?`
    await confirm(terminal, question, options.yes === true)
    const connection = await context.connect({ timeoutMs: reportTimeoutMs })
    const result = await attest(context, connection, {
      report_id: report.report_id,
      population_hash: report.population_hash,
      decision: options.decision,
      ...(options.comment === undefined ? {} : { comment: options.comment }),
      ...(entries === undefined ? {} : { entries }),
    })
    printResult(terminal, context.format, `Attested ${count}. Keep ${file} as evidence.`, result)
  })
}

const attest = ({ signal }: Context, connection: Connection, json: Row): Promise<Row> =>
  sendForJson<Row>(connection, { method: 'POST', path: '/api/access/review/attest', json, signal })

function parseReport(text: string, file: string): Report {
  let report: Partial<Report> | null
  try {
    report = JSON.parse(text) as Partial<Report> | null
  } catch {
    report = null
  }
  if (typeof report?.report_id === 'string' && Array.isArray(report.entries)) return report as Report
  throw new Failure(
    'usage',
    `${file} is not a report. Create a report with: svc review show --file review.json`,
  )
}

/** Returns the decisions on single entries, or undefined if the attestation covers all entries. */
function selectEntries(
  report: Report,
  { decision, only, justification }: AttestOptions,
): { entry_id: string; decision: string; justification?: string }[] | undefined {
  if (only === undefined && justification !== undefined)
    throw new Failure('usage', '--justification needs --only. For all entries, pass --comment.')
  if (only === undefined) return undefined
  const entries = report.entries.filter(({ recommendation }) => recommendation === only)
  if (entries.length === 0) throw new Failure('failed', `No entry has the recommendation ${only}.`)
  if (entries.length > maxAttestedEntries)
    throw new Failure('failed', `The Manager accepts at most ${maxAttestedEntries} single entries.`)
  return entries.map(({ entry_id }) => ({
    entry_id,
    decision,
    ...(justification === undefined ? {} : { justification }),
  }))
}
