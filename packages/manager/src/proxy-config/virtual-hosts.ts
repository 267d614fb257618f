// Streams the hosts that a proxy serves from one database snapshot. An installation can have hundreds of
// thousands of hosts.
import type { Snapshot } from '../platform/postgres/snapshots.ts'
import { type HostPatterns, fillPattern, buildHost } from './hosts.ts'

export type VirtualHost = {
  host: string
  project: { id: string; slug: string }
  application: { id: string; slug: string }
  /** The tenant of a dedicated host; null for a shared host. */
  tenant: { id: string; slug: string } | null
  /** Address of the application's backend. */
  backend?: string
}
type Options = {
  patterns: HostPatterns
  managementHost: string | null
  backendPattern: string | null
  /** Called for each application or tenant whose host would be too long for a DNS name. */
  onTooLong: (name: string) => void
}
type Row = Record<'project_id' | 'project' | 'application_id' | 'application', string> &
  Record<'tenant_id' | 'tenant', string | null>

// A tenant without a dedicated deployment uses the host of the application. The query compares slugs bytewise, so the
// order does not depend on the database collation.
const hostsSql = `
  select p.id as project_id, p.slug as project, a.id as application_id, a.slug as application, t.id as tenant_id, t.slug as tenant
  from (
    select id as application_id, null::uuid as tenant_id from applications
    union all
    select e.application_id, e.tenant_id from tenant2applications e
    join tenants d on d.id = e.tenant_id and d.deployment_mode = 'dedicated'
    where e.enabled
  ) hosts
  join applications a on a.id = hosts.application_id
  join projects p on p.id = a.project_id
  left join tenants t on t.id = hosts.tenant_id
  order by p.slug collate "C", a.slug collate "C", t.slug collate "C" nulls first`

/**
 * Yields the hosts ordered by project, application and tenant. Throws if a host equals the management host.
 */
export async function* streamVirtualHosts(
  snapshot: Pick<Snapshot, 'stream'>,
  options: Options,
): AsyncGenerator<VirtualHost, void, void> {
  for await (const rows of snapshot.stream<Row>(hostsSql))
    for (const row of rows) {
      const virtualHost = createVirtualHost(row, options)
      if (virtualHost !== null) yield virtualHost
    }
}

function createVirtualHost(
  row: Row,
  { patterns, managementHost, backendPattern, onTooLong }: Options,
): VirtualHost | null {
  const { project_id, project, application_id, application, tenant_id, tenant } = row
  const name = [project, application, tenant].filter((slug) => slug !== null).join('/')
  const host = buildHost(patterns, row)
  if (host === null) {
    onTooLong(name)
    return null
  }
  if (host === managementHost)
    throw new Error(
      `the host of ${name} equals the management host ${host}; choose another host for --management-host`,
    )
  return {
    host,
    project: { id: project_id, slug: project },
    application: { id: application_id, slug: application },
    tenant: tenant_id === null || tenant === null ? null : { id: tenant_id, slug: tenant },
    ...(backendPattern === null ? {} : { backend: fillPattern(backendPattern, row) }),
  }
}
