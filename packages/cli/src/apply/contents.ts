// Lists the objects that the Manager deletes together with another object, so that a plan shows every deletion.
import type { Row } from '../output.ts'
import type { Resource } from '../resource.ts'
import { apps } from '../resources/apps.ts'
import { endpoints } from '../resources/endpoints.ts'
import { environments } from '../resources/environments.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { tenants } from '../resources/tenants.ts'
import { triggers } from '../resources/triggers.ts'
import { type Caller, listCallers, listTenantApps } from './link-rows.ts'
import { linkKinds } from './links.ts'
import type { PlannedObject, Planning } from './step.ts'

/** The objects of one project. Each list is read when it is first used. */
export class ProjectContents {
  readonly #planning: Planning
  readonly #project: { id: string; slug: string }
  readonly #machineUserPaths = new Map<string, string>()
  #callers: Map<string, PlannedObject[]> | null = null

  constructor(planning: Planning, project: { id: string; slug: string }) {
    this.#planning = planning
    this.#project = project
  }

  /** Returns the objects that the Manager deletes together with the row. */
  async list(resource: Resource, path: string, row: Row): Promise<PlannedObject[]> {
    const id = String(row['id'])
    if (resource === apps) return this.#listOfApp(path, id)
    if (resource === tenants) return this.#listTenantApps({ tenantId: id })
    if (resource === endpoints) return this.#listCallers(path, id)
    return resource === machineUsers ? this.#listCallersOfUser(id) : []
  }

  /** Returns the path of a machine user below the project, such as dev/billing. */
  async getMachineUserPath(id: string): Promise<string> {
    if (this.#machineUserPaths.size === 0) {
      const { lists } = this.#planning
      for (const environment of await lists.load(environments, this.#project))
        for (const user of await lists.load(machineUsers, { id: String(environment['id']) }))
          this.#machineUserPaths.set(
            String(user['id']),
            `${String(environment['name'])}/${String(user['name'])}`,
          )
    }
    return this.#machineUserPaths.get(id) ?? id
  }

  async #listOfApp(path: string, id: string): Promise<PlannedObject[]> {
    const { lists } = this.#planning
    const contents: PlannedObject[] = []
    for (const endpoint of await lists.load(endpoints, { id })) {
      const endpointPath = `${path}/${String(endpoint['name'])}`
      contents.push({ kind: endpoints.singular, path: endpointPath })
      contents.push(...(await this.#listCallers(endpointPath, String(endpoint['id']))))
    }
    for (const trigger of await lists.load(triggers, { id }))
      contents.push({ kind: triggers.singular, path: `${path}/${String(trigger['name'])}` })
    return [...contents, ...(await this.#listTenantApps({ applicationId: id }))]
  }

  async #listTenantApps(owner: { tenantId: string } | { applicationId: string }): Promise<PlannedObject[]> {
    const { connection, signal } = this.#planning
    const rows = await listTenantApps(connection, owner, signal)
    return rows.map(({ tenant, application }) => ({
      kind: linkKinds.app.name,
      path: `${this.#project.slug}/${tenant.slug} - ${application.slug}`,
    }))
  }

  async #listCallers(endpointPath: string, endpointId: string): Promise<PlannedObject[]> {
    const { connection, signal } = this.#planning
    const callers: PlannedObject[] = []
    for (const caller of await listCallers(connection, endpointId, signal))
      callers.push(await this.#toCaller(endpointPath, caller))
    return callers
  }

  async #toCaller(endpointPath: string, { machineUser }: Caller): Promise<PlannedObject> {
    const userPath = await this.getMachineUserPath(machineUser.id)
    return { kind: linkKinds.caller.name, path: `${endpointPath} - ${userPath}` }
  }

  /** The API lists callers only by endpoint, so this reads the callers of all endpoints once. */
  async #listCallersOfUser(id: string): Promise<PlannedObject[]> {
    this.#callers ??= await this.#readAllCallers()
    return this.#callers.get(id) ?? []
  }

  async #readAllCallers(): Promise<Map<string, PlannedObject[]>> {
    const { lists, connection, signal } = this.#planning
    const callers = new Map<string, PlannedObject[]>()
    for (const app of await lists.load(apps, this.#project))
      for (const endpoint of await lists.load(endpoints, { id: String(app['id']) })) {
        const path = `${this.#project.slug}/${String(app['slug'])}/${String(endpoint['name'])}`
        for (const caller of await listCallers(connection, String(endpoint['id']), signal)) {
          const { id } = caller.machineUser
          callers.set(id, [...(callers.get(id) ?? []), await this.#toCaller(path, caller)])
        }
      }
    return callers
  }
}
