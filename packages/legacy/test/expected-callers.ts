// Determines which credentials of an old installation must still work, and what they may access.
import { type KeptAside, type ProjectIndex, isSubject } from './expected-places.ts'
import type { Id, OldEndpoint, OldInstall, OldMachine, OldToken } from './old-rows.ts'

const ourHash = /^\$pbkdf2-sha256\$i=\d{4,8}\$[\w-]+\$[\w-]{43}$/

/**
 * Returns whether the import chose this row. If several rows have the same claim, the import may choose any of them.
 */
export type WasTaken = (view: string, id: Id) => boolean

export function expectCallers(install: OldInstall, projectIndex: ProjectIndex, wasTaken: WasTaken) {
  const machines = machinesOf(install, projectIndex, wasTaken)
  const endpoints = endpointsOf(install, projectIndex)
  const backends: KeptAside = new Map()
  for (const row of install.backends) {
    const project = projectIndex.projectOf.get(row.application_id)
    if (project === undefined || machines.projectOf(row.machine_user_id) !== project)
      backends.set(row.id, 'orphan')
    else if (row.callback_token === null || !isCallbackUrl(row.callback_url))
      backends.set(row.id, 'registers-again')
  }
  const keptAside = {
    machine_users: machines.keptAside,
    endpoints,
    backends,
    pilets: piletsOf(install, projectIndex),
    tokens: tokensOf(install, wasTaken),
  }
  // The token of a disabled machine user granted no access, so other machine users with this token must not
  // gain access.
  const usable = new Set(install.machines.filter(({ enabled }) => enabled).map(({ id }) => id))
  /** Returns the machine users that may call an endpoint. Machine users with the same token count as one. */
  const callersOf = (endpoint: OldEndpoint): Id[] => {
    const project = projectIndex.projectOf.get(endpoint.application_id)
    if (!endpoint.enabled || endpoints.has(endpoint.id) || lacksSecret(endpoint)) return []
    const own = endpoint.callers.filter((id) => usable.has(id) && machines.projectOf(id) === project)
    return own.map(machines.standIn)
  }
  return { keptAside, callersOf, standIn: machines.standIn }
}

/** One machine user represents all machine users with its token. An enabled machine user takes precedence. */
function machinesOf(install: OldInstall, { tenantProject }: ProjectIndex, wasTaken: WasTaken) {
  const keptAside: KeptAside = new Map()
  const usable: OldMachine[] = []
  for (const machine of install.machines)
    if (!tenantProject.has(machine.tenant_id)) keptAside.set(machine.id, 'orphan')
    else if (machine.token_hash === null && !ourHash.test(machine.password_hash ?? ''))
      keptAside.set(machine.id, 'no-credential')
    else usable.push(machine)
  const project = new Map(usable.map(({ id, tenant_id }) => [id, tenantProject.get(tenant_id) as Id]))
  const standIns = new Map<Id, Id>()
  for (const [hash, same] of Map.groupBy(usable, ({ token_hash }) => token_hash)) {
    if (hash === null) continue
    const holder = firstClaim(
      same,
      ({ enabled }) => enabled,
      (id) => wasTaken('machine_users', id),
    )
    for (const { id } of same)
      if (project.get(id) === project.get(holder.id)) standIns.set(id, holder.id)
      else {
        keptAside.set(id, 'token-elsewhere')
        project.delete(id)
      }
  }
  return {
    keptAside,
    projectOf: (id: Id): Id | undefined => project.get(id),
    standIn: (id: Id): Id => standIns.get(id) ?? id,
  }
}

function endpointsOf(install: OldInstall, { projectOf }: ProjectIndex): KeptAside {
  const keptAside: KeptAside = new Map()
  for (const { id, application_id, consume_url, url } of install.endpoints)
    if (!projectOf.has(application_id)) keptAside.set(id, 'orphan')
    else if (!isPath(consume_url) || (url !== null && url !== '' && !/^https?:\/\/[^/\s]+/.test(url)))
      keptAside.set(id, 'endpoint-refused')
  return keptAside
}

const isPath = (path: string): boolean =>
  /^\/(?!\/)/.test(path) && path.length <= 500 && !/\.\.|[\s?#\\]|%(?![0-9a-f]{2})/i.test(path)

const lacksSecret = ({ auth_type, auth_password, auth_token }: OldEndpoint): boolean =>
  (auth_type === 'Basic' && auth_password === null) || (auth_type === 'Bearer' && (auth_token ?? '') === '')

const isCallbackUrl = (url: string): boolean => /^https?:\/\/[a-z0-9.-]+(?:[:/]|$)/.test(url)

/** The first content of a name and version is kept. Later rows must have identical content. */
function piletsOf(install: OldInstall, { projects }: ProjectIndex): KeptAside {
  const keptAside: KeptAside = new Map()
  const contents = new Map<string, string>()
  for (const { id, project_id, name, version, content, hash } of install.pilets) {
    const isNamed = /^(?:@[a-z0-9-]+\/)?[a-z0-9-]+$/.test(name) && /^\d+\.\d+\.\d+(?:[-+].*)?$/.test(version)
    const key = JSON.stringify([project_id, name, version])
    if (!projects.has(project_id)) keptAside.set(id, 'orphan')
    else if (!isNamed || hash === 'f'.repeat(64)) keptAside.set(id, 'pilet-refused')
    else if (contents.has(key) && contents.get(key) !== content) keptAside.set(id, 'version-taken')
    else contents.set(key, content)
  }
  return keptAside
}

/** Returns the row that wins the claim. A usable row takes precedence. */
function firstClaim<T extends { id: Id }>(
  rows: readonly T[],
  isUsable: (row: T) => boolean,
  wasTaken: (id: Id) => boolean,
): T {
  const usable = rows.filter(isUsable)
  const claims = usable.length > 0 ? usable : rows
  return (claims.find(({ id }) => wasTaken(id)) ?? claims[0]) as T
}

function tokensOf(install: OldInstall, wasTaken: WasTaken): KeptAside {
  const keptAside: KeptAside = new Map()
  const usable: OldToken[] = []
  for (const token of install.tokens)
    if (!isSubject(token.user_id)) keptAside.set(token.id, 'no-subject')
    else if (!ourHash.test(token.hash)) keptAside.set(token.id, 'no-credential')
    else usable.push(token)
  for (const same of Map.groupBy(usable, ({ token_prefix }) => token_prefix).values()) {
    const holder = firstClaim(
      same,
      ({ revoked }) => !revoked,
      (id) => wasTaken('tokens', id),
    )
    for (const { id } of same) if (id !== holder.id) keptAside.set(id, 'prefix-taken')
  }
  return keptAside
}
