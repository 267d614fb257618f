// Plans links: apps that are enabled for tenants, and machine users that may call endpoints.
import { type Connection, graphql } from '@manager/client'
import {
  createMachineUser2EndpointDocument,
  createTenant2ApplicationDocument,
  listMachineUser2EndpointsDocument,
  updateMachineUser2EndpointDocument,
  updateTenant2ApplicationDocument,
} from '@manager/client/documents'
import { ensureTenantAppSettings, findTenantApp } from '../settings.ts'
import type { Link } from './document.ts'
import { findLinkTarget } from './lookups.ts'
import { planSettings } from './settings-steps.ts'
import type { Planning, Step } from './step.ts'

type Row = { id: string; enabled: boolean }
type LinkKind = {
  /** The kinds of the two linked resources. `name` is the kind of link that the plan shows. */
  from: string
  to: string
  name: string
  find: (connection: Connection, from: string, to: string, signal: AbortSignal) => Promise<Row | null>
  create: (connection: Connection, from: string, to: string) => Promise<string>
  setEnabled: (connection: Connection, id: string, enabled: boolean) => Promise<unknown>
}

const kinds: Readonly<Record<Link['kind'], LinkKind>> = {
  app: {
    from: 'tenant',
    to: 'app',
    name: 'app of tenant',
    find: (connection, tenant, app, signal) => findTenantApp(connection, { tenant, app }, { signal }),
    create: async (connection, tenantId, applicationId) => {
      const input = { tenantId, applicationId, enabled: true }
      const result = await graphql(connection, createTenant2ApplicationDocument, { input })
      return result.createTenant2Application.id
    },
    setEnabled: (connection, id, enabled) =>
      graphql(connection, updateTenant2ApplicationDocument, { id, input: { enabled } }),
  },
  caller: {
    from: 'endpoint',
    to: 'machine user',
    name: 'caller of endpoint',
    find: async (connection, endpoint, machineUser, signal) => {
      const filters = [{ field: 'machineUserId', value: machineUser }]
      const result = await graphql(
        connection,
        listMachineUser2EndpointsDocument,
        { endpoint, filters },
        { signal },
      )
      return result.machineUser2endpoints[0] ?? null
    },
    create: async (connection, endpointID, machineUserID) => {
      const input = { endpointID, machineUserID, enabled: true }
      const result = await graphql(connection, createMachineUser2EndpointDocument, { input })
      return result.createMachineUser2Endpoint.id
    },
    setEnabled: (connection, id, enabled) =>
      graphql(connection, updateMachineUser2EndpointDocument, { id, input: { enabled } }),
  },
}

/**
 * Returns the steps that create or update the link. Throws if either end is neither declared earlier in the file nor
 * present in the Manager.
 */
export async function planLink(planning: Planning, link: Link): Promise<Step[]> {
  const { connection, ids, signal } = planning
  const kind = kinds[link.kind]
  const path = `${link.path} - ${link.to.slice(link.to.indexOf('/') + 1)}`
  const [from, to] = [ids.find(kind.from, link.path), await findLinkTarget(planning, kind.to, link.to)]
  const row = from === null || to === null ? null : await kind.find(connection, from, to, signal)
  if (row !== null) ids.set(kind.name, path, row.id)
  const step: Step = { action: 'unchanged', kind: kind.name, path, changes: [], run: async () => undefined }
  if (row === null) {
    const enabled = link.enabled ?? true
    step.action = 'create'
    step.changes = [{ field: 'enabled', before: null, after: enabled }]
    step.run = async () => {
      const id = await kind.create(connection, ids.get(kind.from, link.path), ids.get(kind.to, link.to))
      ids.set(kind.name, path, id)
      if (!enabled) await kind.setEnabled(connection, id, false)
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
      const id = ids.get(kinds.app.name, path)
      await ensureTenantAppSettings(connection, id, {})
      return { tenant2application: id }
    },
  })
}
