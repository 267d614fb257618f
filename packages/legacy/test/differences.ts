// Lists the differences between an imported installation and the expected result. The list is empty on success.
import { call, throughProxy } from '@manager/harness/credentials.ts'
import { credentialDifferences, endpointDifferences } from './differences-callers.ts'
import { type Imported, type ImportedClone, newIdOf, readClones } from './imported.ts'
import { symmetricDifference } from './symmetric-difference.ts'

export async function findDifferences(imported: Imported): Promise<string[]> {
  const clones = await readClones(imported)
  return [
    ...outcomeDifferences(imported),
    ...groupDifferences(imported, clones),
    ...(await configDifferences(imported, clones)),
    ...(await peopleDifferences(imported, clones)),
    ...(await roleDifferences(imported)),
    ...(await environmentDifferences(imported)),
    ...(await credentialDifferences(imported, clones)),
    ...(await endpointDifferences(imported)),
    ...(await contentDifferences(imported)),
  ]
}

/** Checks that every row is accounted for, and that the skipped rows are exactly those that a rule names. */
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

function groupDifferences({ expected }: Imported, clones: ReadonlyMap<string, ImportedClone>): string[] {
  return expected.groups.flatMap((ids) => {
    const applications = new Set(ids.map((id) => clones.get(id)?.applicationId))
    return applications.size === 1 ? [] : [`clones ${ids.join()}: ${applications.size} applications`]
  })
}

/** Checks that the responses to frontends are identical, byte for byte. */
async function configDifferences(
  imported: Imported,
  clones: ReadonlyMap<string, ImportedClone>,
): Promise<string[]> {
  const found: string[] = []
  for (const { id, projectId, config } of imported.expected.clones) {
    const clone = clones.get(id)
    if (clone === undefined) {
      found.push(`clone ${id}: it is nowhere`)
      continue
    }
    const path = `/api/frontend-config/${clone.applicationId}/${clone.tenantId}`
    const answer = await fetch(imported.service.url + path, { headers: throughProxy() })
    const body = await answer.text()
    const wanted = JSON.stringify({ config, project_id: newIdOf(imported, 'projects', projectId) })
    if (config === null ? answer.status !== 404 : body !== wanted)
      found.push(`clone ${id}: answers ${body} in place of ${config === null ? '404' : wanted}`)
  }
  return found
}

/** Checks that every person reaches the same tenants as before in each application, and no other tenants. */
async function peopleDifferences(
  imported: Imported,
  clones: ReadonlyMap<string, ImportedClone>,
): Promise<string[]> {
  const found: string[] = []
  const { rows } = await imported.service.sql.query<{ id: string }>('select id from applications')
  for (const [person, roles] of imported.expected.roles)
    for (const { id: application_id } of rows) {
      const wanted = [...clones.values()]
        .filter((clone) => clone.applicationId === application_id && roles.has(clone.oldTenantId))
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

/** Checks that the roles in tenants match, and that there are no other roles. */
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

/** Checks that machine users and backends are in the environment that corresponds to their tenant's type. */
async function environmentDifferences(imported: Imported): Promise<string[]> {
  const { install, ledger, service } = imported
  const typeOf = new Map(install.tenants.map(({ id, type }) => [id, install.types[type] ?? known[type]]))
  const wanted = install.machines.flatMap(({ id, tenant_id }) => {
    const row = ledger.get('machine_users')?.get(id)
    return row?.outcome === 'moved' ? [`${row.new_id} ${typeOf.get(tenant_id)}`] : []
  })
  const { rows } = await service.sql.query<{ membership: string }>(
    `select m.id || ' ' || e.name as membership from machine_users m join environments e on e.id = m.environment_id`,
  )
  const { rows: apart } = await service.sql.query<{ id: string }>(
    `select b.id from backend_registrations b join machine_users m on m.id = b.machine_user_id
     where m.environment_id <> b.environment_id`,
  )
  return [
    ...symmetricDifference(
      'environment',
      wanted,
      rows.map(({ membership }) => membership),
    ),
    ...apart.map(({ id }) => `backend ${id}: in another environment than its machine user`),
  ]
}

/** Checks that the content of pilets is identical. */
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
