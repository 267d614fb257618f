// Plans links: apps that are enabled for tenants, and machine users that may call endpoints.
import { type Connection, graphql } from '@manager/client'
import {
  createMachineUser2EndpointDocument,
  createTenant2ApplicationDocument,
  deleteMachineUser2EndpointDocument,
  deleteTenant2ApplicationDocument,
  updateMachineUser2EndpointDocument,
  updateTenant2ApplicationDocument,
} from '@manager/client/documents'
import { ensureTenantAppSettings } from '../settings.ts'
import type { Link } from './document.ts'
import { listCallers, listTenantApps } from './link-rows.ts'
import { findLinkTarget } from './lookups.ts'
import { planSettings } from './settings-steps.ts'
import type { Planning, Step } from './step.ts'

type Row = { id: string; enabled: boolean }
/** A link with the id of the app or machine user that it leads to. `slug` is the slug of the app. */
type LinkRow = Row & { revision: number; to: string; slug?: string }
type LinkKind = {
  /** The kinds of the two linked resources. `name` is the kind of link that the plan shows. */
  from: string
  to: string
  name: string
  list: (connection: Connection, from: string, signal: AbortSignal) => Promise<LinkRow[]>
  create: (connection: Connection, from: string, to: string, enabled: boolean) => Promise<string>
  setEnabled: (connection: Connection, id: string, enabled: boolean) => Promise<unknown>
  delete: (connection: Connection, row: LinkRow) => Promise<unknown>
}

export const linkKinds: Readonly<Record<Link['kind'], LinkKind>> = {
  app: {
    from: 'tenant',
    to: 'app',
    name: 'app of tenant',
    list: async (connection, tenantId, signal) => {
      const rows = await listTenantApps(connection, { tenantId }, signal)
      return rows.map((row) => ({ ...row, to: row.application.id, slug: row.application.slug }))
    },
    create: async (connection, tenantId, applicationId, enabled) => {
      const input = { tenantId, applicationId, enabled }
      const result = await graphql(connection, createTenant2ApplicationDocument, { input })
      return result.createTenant2Application.id
    },
    setEnabled: (connection, id, enabled) =>
      graphql(connection, updateTenant2ApplicationDocument, { id, input: { enabled } }),
    delete: (connection, { id, revision }) =>
      graphql(connection, deleteTenant2ApplicationDocument, { id, expectedRevision: revision }),
  },
  caller: {
    from: 'endpoint',
    to: 'machine user',
    name: 'caller of endpoint',
    list: async (connection, endpoint, signal) => {
      const rows = await listCallers(connection, endpoint, signal)
      return rows.map((row) => ({ ...row, to: row.machineUser.id }))
    },
    create: async (connection, endpointID, machineUserID, enabled) => {
      const input = { endpointID, machineUserID, enabled }
      const result = await graphql(connection, createMachineUser2EndpointDocument, { input })
      return result.createMachineUser2Endpoint.id
    },
    setEnabled: (connection, id, enabled) =>
      graphql(connection, updateMachineUser2EndpointDocument, { id, input: { enabled } }),
    delete: (connection, { id, revision }) =>
      graphql(connection, deleteMachineUser2EndpointDocument, { id, expectedRevision: revision }),
  },
}

/**
 * Returns the steps that create or update the links of a tenant or an endpoint. Throws if either end of a link is
 * neither declared earlier in the file nor present in the Manager.
 */
export async function planLinks(planning: Planning, links: readonly Link[]): Promise<Step[]> {
  const [first] = links
  if (first === undefined) return []
  const { connection, ids, limit, signal } = planning
  const from = ids.find(linkKinds[first.kind].from, first.path)
  const { list } = linkKinds[first.kind]
  const rows = from === null ? [] : await limit(() => list(connection, from, signal))
  const steps: Step[] = []
  for (const link of links) steps.push(...(await planLink(planning, link, rows)))
  return steps
}

async function planLink(planning: Planning, link: Link, rows: readonly LinkRow[]): Promise<Step[]> {
  const { connection, ids } = planning
  const kind = linkKinds[link.kind]
  const path = `${link.path} - ${link.to.slice(link.to.indexOf('/') + 1)}`
  const to = await findLinkTarget(planning, kind.to, link.to)
  const row = rows.find((one) => one.to === to) ?? null
  if (row !== null) ids.set(kind.name, path, row.id)
  const step: Step = { action: 'unchanged', kind: kind.name, path, changes: [], run: async () => undefined }
  if (row === null) {
    const enabled = link.enabled ?? true
    step.action = 'create'
    step.changes = [{ field: 'enabled', before: null, after: enabled }]
    step.run = async () => {
      const [from, target] = [ids.get(kind.from, link.path), ids.get(kind.to, link.to)]
      ids.set(kind.name, path, await kind.create(connection, from, target, enabled))
    }
  } else if (link.enabled !== null && row.enabled !== link.enabled) {
    const { enabled } = link
    step.action = 'update'
    step.changes = [{ field: 'enabled', before: row.enabled, after: enabled }]
    step.run = async () => void (await kind.setEnabled(connection, row.id, enabled))
  }
  return link.settings === null ? [step] : [step, await planLinkSettings(planning, link, path, row)]
}

async function planLinkSettings(
  planning: Planning,
  { settings }: Link,
  path: string,
  row: Row | null,
): Promise<Step> {
  const { connection, ids } = planning
  return planSettings(planning, {
    path,
    settings: settings ?? { backend: {}, frontend: {} },
    currentLayer: row === null ? null : { tenant2application: row.id },
    layer: async () => {
      const id = ids.get(linkKinds.app.name, path)
      await ensureTenantAppSettings(connection, id, {})
      return { tenant2application: id }
    },
  })
}
