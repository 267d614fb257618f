// Reads the rows of effective access through the front door, page by page.
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'

export type AccessRow = {
  user: string
  scope: string
  project: string | null
  tenant: string | null
  application: string | null
  role: string
  applicationRole: string | null
  permissions: string[]
  covers: string[]
  /** The kinds, roles and membership ids of the reasons. */
  reasons: string
}

const rowFields = `scope role applicationRole permissions covers user { id } project { id } tenant { id } application { id }
  reasons { kind role membershipId }`

type Id = { id: string } | null
type Listed = Omit<AccessRow, 'user' | 'project' | 'tenant' | 'application' | 'reasons'> & {
  user: { id: string }
  project: Id
  tenant: Id
  application: Id
  reasons: { kind: string; role: string; membershipId: string | null }[]
}

const toRow = ({ user, project, tenant, application, reasons, ...row }: Listed): AccessRow => ({
  ...row,
  user: user.id,
  project: project?.id ?? null,
  tenant: tenant?.id ?? null,
  application: application?.id ?? null,
  reasons: reasons.map(({ kind, role, membershipId }) => `${kind}/${role}/${membershipId}`).join(' '),
})

/** Returns all rows of a field. A caller who may not see the object gets none; any other error is thrown. */
async function listAll(
  service: TestApp,
  caller: Person,
  field: string,
  args: Record<string, string>,
  limit: number,
): Promise<AccessRow[]> {
  const rows: AccessRow[] = []
  const named = Object.entries(args).map(([name, value]) => `${name}: "${value}"`)
  for (let after: string | null = null; ;) {
    const { data, error } = await service.query(
      caller,
      `query($after: String) { page: ${field}(${named.join(', ')}, after: $after,
         pagination: {limit: ${limit}, offset: 0}) { nodes { ${rowFields} } pageInfo { hasNextPage endCursor } } }`,
      { after },
    )
    if (error?.endsWith('not found') === true) return []
    if (error !== null) throw new Error(`${field}(${named.join(', ')}): ${error}`)
    rows.push(...(data.page.nodes as Listed[]).map(toRow))
    if (data.page.pageInfo.hasNextPage !== true) return rows
    if (data.page.pageInfo.endCursor === after)
      throw new Error(`${field}: the page after a cursor ends at the cursor`)
    after = data.page.pageInfo.endCursor as string
  }
}

export const listPerson = (
  service: TestApp,
  caller: Person,
  args: { user: string; project?: string },
  limit = 100,
): Promise<AccessRow[]> => listAll(service, caller, 'effectiveAccess', args, limit)

export const listObject = (
  service: TestApp,
  caller: Person,
  args: Record<string, string>,
  limit = 100,
): Promise<AccessRow[]> => listAll(service, caller, 'whoCanReach', args, limit)
