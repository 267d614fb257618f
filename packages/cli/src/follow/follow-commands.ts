// The lists that --follow extends: calls, runs and audit entries.
import type { Connection } from '@manager/client'
import { type Command, Option } from 'commander'
import type { Context } from '../context.ts'
import { Failure } from '../failures.ts'
import type { Row } from '../output.ts'
import type { Filter } from '../rows.ts'
import type { FollowView } from './run-follow.ts'

export type FollowOptions = { follow?: boolean }
/** `formatRow` converts a row for a table. Other formats get the complete row. */
type TableView = { columns: readonly string[]; limit: number; formatRow: (row: Row) => Row }

const toView = ({ formatRow, ...view }: TableView): FollowView => ({
  ...view,
  formatRow: (row, format) => (format === 'table' ? formatRow(row) : row),
})

/** Adds --follow. `others` are options of the command that make no sense with new rows. */
export const addFollowOption = (command: Command, others: readonly string[]): Command =>
  command.addOption(
    new Option('--follow', 'print new rows as they are recorded, until you press Ctrl-C').conflicts([
      ...others,
      'watch',
    ]),
  )

type CallVariables = {
  applicationId: string
  endpointId?: string | undefined
  machineUserId?: string | undefined
  status?: string | undefined
  filters?: readonly Filter[] | undefined
}

export async function followCalls(
  context: Context,
  connection: Connection,
  { applicationId, endpointId, machineUserId, status, filters }: CallVariables,
  view: TableView,
): Promise<never> {
  const [{ createCallSource }, { runFollow }] = await loadFollow()
  const matches = createStatusMatcher(status)
  const variables = { applicationId, endpointId, machineUserId, filters }
  return runFollow(
    context,
    connection,
    (clocked) => createCallSource(clocked, variables, matches),
    toView(view),
  )
}

export async function followRuns(
  context: Context,
  connection: Connection,
  {
    trigger,
    environmentId,
    outcome,
  }: { trigger: string; environmentId?: string | undefined; outcome?: string | undefined },
  view: TableView,
): Promise<never> {
  const [{ createRunSource }, { runFollow }] = await loadFollow()
  const matches = (run: { outcome: string }): boolean => outcome === undefined || run.outcome === outcome
  const variables = { trigger, environmentId }
  return runFollow(
    context,
    connection,
    (clocked) => createRunSource(clocked, variables, matches),
    toView(view),
  )
}

export async function followAudit(
  context: Context,
  connection: Connection,
  variables: { projectID: string; filters?: readonly Filter[] | undefined },
  view: FollowView,
): Promise<never> {
  const [{ createAuditSource }, { runFollow }] = await loadFollow()
  return runFollow(context, connection, (clocked) => createAuditSource(clocked, variables), view)
}

/** Only commands with --follow need these files. */
const loadFollow = () => Promise.all([import('./sources.ts'), import('./run-follow.ts')])

type EndedCall = { responseStatus: number | null; failure: string | null }

/**
 * Returns whether a call has the status: a number such as 404, a class such as 5xx, or `failed`. The Manager cannot
 * filter here, because it would not return a call before it ends.
 */
function createStatusMatcher(status: string | undefined): (call: EndedCall) => boolean {
  if (status === undefined) return () => true
  if (status === 'failed') return ({ failure }) => failure !== null
  if (!/^[1-5](xx|\d\d)$/i.test(status))
    throw new Failure(
      'usage',
      `${status} is not a status. Use a number such as 404, a class such as 5xx, or failed.`,
    )
  const [first, isClass] = [Number(status[0]), /xx$/i.test(status)]
  return ({ responseStatus }) =>
    responseStatus !== null &&
    (isClass ? Math.floor(responseStatus / 100) === first : responseStatus === Number(status))
}
