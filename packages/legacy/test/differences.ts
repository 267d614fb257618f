// In what an imported install differs from what it must be: texts, none when all is well.
import { call, throughProxy } from '@manager/harness/credentials.ts'
import { credentialDifferences, endpointDifferences } from './differences-callers.ts'
import { type Imported, type Place, newIdOf, readPlaces } from './imported.ts'
import { symmetricDifference } from './symmetric-difference.ts'

export async function findDifferences(imported: Imported): Promise<string[]> {
  const places = await readPlaces(imported)
  return [
    ...outcomeDifferences(imported),
    ...groupDifferences(imported, places),
    ...(await configDifferences(imported, places)),
    ...(await peopleDifferences(imported, places)),
    ...(await roleDifferences(imported)),
    ...(await environmentDifferences(imported)),
    ...(await credentialDifferences(imported, places)),
    ...(await endpointDifferences(imported)),
    ...(await contentDifferences(imported)),
  ]
}

/** Every row is accounted for, and those are kept aside that a rule names. */
function outcomeDifferences({ install, expected, ledger }: Imported): string[] {
  const counts = {
    projects: install.projects,
    tenants: install.tenants,
    applications: install.applications,
    tenant_members: install.members,
    machine_users: install.machines,
    backends: install.backends,
    settings: install.settings,
    endpoints: install.endpoints,
    pilets: install.pilets,
    tokens: install.tokens,
  }
  return Object.entries(counts).flatMap(([view, rows]) => {
    const own = ledger.get(view) ?? new Map()
    const wanted = expected.keptAside[view as keyof typeof expected.keptAside]
    const found = new Map(
      [...own.values()]
        .filter(({ outcome }) => outcome === 'kept_aside')
        .map((row) => [row.old_id, row.rules]),
    )
    return [
      ...(own.size === rows.length ? [] : [`${view}: ${own.size} of ${rows.length} rows are accounted for`]),
      ...[...wanted]
        .filter(([id, rule]) => found.get(id)?.includes(rule) !== true)
        .map(([id, rule]) => `${view} ${id}: not kept aside by ${rule}: ${JSON.stringify(own.get(id))}`),
      ...[...found]
        .filter(([id]) => !wanted.has(id.replace(/(?<=\/.*)\/\d+$/, '')))
        .map(([id, rules]) => `${view} ${id}: kept aside by ${rules.join()}`),
    ]
  })
}

function groupDifferences({ expected }: Imported, places: ReadonlyMap<string, Place>): string[] {
  return expected.groups.flatMap((clones) => {
    const applications = new Set(clones.map((id) => places.get(id)?.applicationId))
    return applications.size === 1 ? [] : [`clones ${clones.join()}: ${applications.size} applications`]
  })
}

/** The answers to frontends, byte for byte. */
async function configDifferences(imported: Imported, places: ReadonlyMap<string, Place>): Promise<string[]> {
  const found: string[] = []
  for (const { id, projectId, config } of imported.expected.clones) {
    const place = places.get(id)
    if (place === undefined) {
      found.push(`clone ${id}: it is nowhere`)
      continue
    }
    const path = `/api/frontend-config/${place.applicationId}/${place.tenantId}`
    const answer = await fetch(imported.service.url + path, { headers: throughProxy() })
    const body = await answer.text()
    const wanted = JSON.stringify({ config, project_id: newIdOf(imported, 'projects', projectId) })
    if (config === null ? answer.status !== 404 : body !== wanted)
      found.push(`clone ${id}: answers ${body} in place of ${config === null ? '404' : wanted}`)
  }
  return found
}

/** Everybody reaches the tenants they reached, application by application, and no others. */
async function peopleDifferences(imported: Imported, places: ReadonlyMap<string, Place>): Promise<string[]> {
  const found: string[] = []
  const { rows } = await imported.service.sql.query<{ id: string }>('select id from applications')
  for (const [person, roles] of imported.expected.roles)
    for (const { id: application_id } of rows) {
      const wanted = [...places.values()]
        .filter((place) => place.applicationId === application_id && roles.has(place.oldTenantId))
        .filter(({ cloneId }) =>
          imported.expected.clones.some(({ id, config }) => id === cloneId && config !== null),
        )
        .map(({ tenantId }) => tenantId)
      const { body } = await call(imported.service.url, '/api/validate-oauth-user', throughProxy(), {
        user_id: person,
        application_id,
      })
      const reached = (body.application?.available_tenants ?? []) as { id: string }[]
      const has = reached.map(({ id }) => id).toSorted()
      if (JSON.stringify(has) !== JSON.stringify(wanted.toSorted()))
        found.push(
          `person ${person} in ${application_id}: reaches ${has.join()} in place of ${wanted.join()}`,
        )
      if (body.application?.has_access !== wanted.length > 0)
        found.push(`person ${person} in ${application_id}: access is ${body.application?.has_access}`)
    }
  return found
}

/** Roles of tenants, and nobody with a role elsewhere. */
async function roleDifferences(imported: Imported): Promise<string[]> {
  const wanted = [...imported.expected.roles].flatMap(([person, roles]) =>
    [...roles].map(([tenant, role]) => `${person} ${newIdOf(imported, 'tenants', tenant)} ${role}`),
  )
  const { rows } = await imported.service.sql.query<{ role: string }>(`
    select user_id || ' ' || tenant_id || ' ' || role_name as role from user2tenants
    union all select user_id || ' in a project' from user2projects
    union all select user_id || ' in an application' from user2applications
    union all select id || ' is ' || role from users where role <> 'user'`)
  return symmetricDifference(
    'role',
    wanted,
    rows.map(({ role }) => role),
  )
}

const known: Record<string, string> = {
  dev: 'dev',
  development: 'dev',
  qas: 'qas',
  qa: 'qas',
  test: 'qas',
  staging: 'qas',
  run: 'run',
  prod: 'run',
  production: 'run',
  live: 'run',
}

/** Machine users and backends are in the environment that the type of their tenant became. */
async function environmentDifferences(imported: Imported): Promise<string[]> {
  const { install, ledger, service } = imported
  const typeOf = new Map(install.tenants.map(({ id, type }) => [id, install.types[type] ?? known[type]]))
  const wanted = install.machines.flatMap(({ id, tenant_id }) => {
    const row = ledger.get('machine_users')?.get(id)
    return row?.outcome === 'moved' ? [`${row.new_id} ${typeOf.get(tenant_id)}`] : []
  })
  const { rows } = await service.sql.query<{ place: string }>(
    `select m.id || ' ' || e.name as place from machine_users m join environments e on e.id = m.environment_id`,
  )
  const { rows: apart } = await service.sql.query<{ id: string }>(
    `select b.id from backend_registrations b join machine_users m on m.id = b.machine_user_id
     where m.environment_id <> b.environment_id`,
  )
  return [
    ...symmetricDifference(
      'environment',
      wanted,
      rows.map(({ place }) => place),
    ),
    ...apart.map(({ id }) => `backend ${id}: in another environment than its machine user`),
  ]
}

/** The bytes of pilets. */
async function contentDifferences(imported: Imported): Promise<string[]> {
  const wanted = imported.install.pilets.flatMap(({ id, content, name, version }) => {
    const newId = newIdOf(imported, 'pilets', id)
    return newId === null ? [] : [`${newId} ${name} ${version} ${content}`]
  })
  const { rows } = await imported.service.sql.query<{ pilet: string }>(`
    select p.id || ' ' || p.name || ' ' || p.version || ' ' ||
      (select string_agg(encode(bytes, 'hex'), '' order by position) from blob_chunks c where c.sha256 = p.hash) as pilet
    from pilet_packages p`)
  return symmetricDifference(
    'pilet',
    [...new Set(wanted)],
    rows.map(({ pilet }) => pilet),
  )
}
