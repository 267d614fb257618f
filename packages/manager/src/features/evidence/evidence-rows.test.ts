// These tests cover the content of evidence rows, grouped by the questions of an auditor.
import { describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { startTestApp } from '../../../test/kit/app.ts'
import { decide, openTerminal } from '@manager/harness/cli-login.ts'
import { createMachine, createToken, validate } from '@manager/harness/credentials.ts'
import { seedCall, seedCaller } from '../../../test/kit/esb-calls.ts'
import { type EvidenceRow, evidenceRows } from '../../../test/kit/evidence.ts'
import { memberCalls } from '../../../test/kit/members.ts'
import { uploadPilet } from '@manager/harness/pilets.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedRuns, seedTrigger } from '../../../test/kit/triggers.ts'

const { service, admin, project, person } = useProject()
const rowsOf = (name: string): Promise<EvidenceRow[]> => evidenceRows(service, admin, name)
const ofProject = memberCalls('Project', () => service)
const ofTenant = memberCalls('Tenant', () => service)
const mutate = async (text: string) => {
  const { data, error } = await service.query(admin, `mutation { row: ${text} }`)
  expect(error).toBeNull()
  return data.row
}
const find = async (name: string, fields: EvidenceRow): Promise<EvidenceRow> => {
  const rows = await rowsOf(name)
  const found = rows.find((row) => Object.entries(fields).every(([column, value]) => row[column] === value))
  expect([name, fields, found !== undefined]).toEqual([name, fields, true])
  return found as EvidenceRow
}

describe('rows of evidence', () => {
  test('[evidence.names-access] whose access it was, to what, from whom, and where it stands in the chain', async () => {
    const ann = await person('ann')
    const { data } = await ofProject.add(admin, { of: project.id, userID: ann.id, role: 'tester' })
    const id = data.row.id as string
    const granted = await find('access-grants', { entity_id: id })
    expect(granted).toMatchObject({
      action: 'grant',
      subject_type: 'user',
      subject_id: ann.id,
      subject_email: ann.email,
      scope_type: 'project',
      scope_id: project.id,
      role: 'tester',
      project_id: project.id,
      principal_type: 'user',
      principal_id: admin.id,
      principal_email: admin.email,
      chain_id: project.id,
    })
    expect(granted['occurred_at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(granted['scope_name']).toBe(granted['project_name'])
    const { rows } = await service.sql.query(
      "select encode(hash, 'hex') as hash from audit_logs where chain_id = $1 and seq = $2",
      [project.id, granted['seq']],
    )
    expect(rows).toEqual([{ hash: granted['hash'] }])

    await ofProject.update(admin, { id, role: 'maintainer' })
    // A change contains only the fields that differ, but the subject is still known.
    const changed = {
      subject_id: ann.id,
      role_before: 'tester',
      role_after: 'maintainer',
      scope_id: project.id,
    }
    expect(await find('role-changes', { entity_id: id })).toMatchObject(changed)
    expect(await find('privileged-access', { entity_id: id })).toMatchObject(changed)
    await ofProject.remove(admin, { id })
    expect(await find('access-revocations', { entity_id: id })).toMatchObject({
      subject_id: ann.id,
      former_role: 'maintainer',
    })
    const inTenant = await ofTenant.add(admin, { of: project.tenantId, userID: ann.id, role: 'member' })
    await ofTenant.update(admin, { id: inTenant.data.row.id, role: 'admin' })
    expect(await find('privileged-access', { entity_id: inTenant.data.row.id as string })).toMatchObject({
      subject_email: ann.email,
      scope_type: 'tenant',
      scope_id: project.tenantId,
      role_before: 'member',
      role_after: 'admin',
    })
    await mutate(`updateUserSystemRole(id: "${ann.id}", role: "administrator") { id }`)
    expect(await find('privileged-access', { entity_type: 'user' })).toMatchObject({
      subject_id: ann.id,
      scope_type: 'system',
      project_id: null,
      role_before: 'user',
      role_after: 'administrator',
    })
  })

  test('[evidence.names-access] roles of tenants of their own are privileged while they hold members', async () => {
    const role = (name: string, permissions: string) =>
      mutate(
        `createTenantRoleDefinition(tenantId: "${project.tenantId}", input: {name: "${name}", permissions: [${permissions}]}) { id }`,
      )
    await role('stewards', '"members", "apps.read"')
    await role('readers', '"apps.read"')
    const [bea, cid] = [await person('bea'), await person('cid')]
    const add = async (userID: string, name: string) =>
      (await ofTenant.add(admin, { of: project.tenantId, userID, role: name })).data.row.id as string
    const [steward, reader] = [await add(bea.id, 'stewards'), await add(cid.id, 'readers')]
    expect(await find('privileged-access', { entity_id: steward })).toMatchObject({
      subject_id: bea.id,
      scope_id: project.tenantId,
      role_after: 'stewards',
    })
    const rowsOfReader = async () =>
      (await rowsOf('privileged-access')).filter((row) => row['entity_id'] === reader)
    expect(await rowsOfReader()).toEqual([])
    // The change contains only the role. The tenant is read from the row that granted the role.
    await ofTenant.update(admin, { id: reader, role: 'stewards' })
    expect(await rowsOfReader()).toMatchObject([{ action: 'update', role_before: 'readers' }])
    await ofTenant.remove(admin, { id: reader })
    expect((await rowsOfReader()).map(({ action }) => action)).toEqual(['revoke', 'update'])
  })

  test('[evidence.names-access] machine users, their access and their credentials', async () => {
    const { id: machineUserID } = await createMachine(service, admin, project.environmentId)
    const { endpointId } = await seedCaller(service.sql, project)
    const input = `{machineUserID: "${machineUserID}", endpointID: "${endpointId}"}`
    const { id } = await mutate(`createMachineUser2Endpoint(input: ${input}) { id }`)
    await mutate(`updateMachineUser2Endpoint(id: "${id}", input: {enabled: false}) { id }`)
    const access = {
      subject_type: 'machine_user',
      subject_id: machineUserID,
      scope_type: 'endpoint',
      scope_id: endpointId,
    }
    expect(await find('access-grants', { entity_id: id })).toMatchObject({ ...access, enabled: true })
    expect(await find('access-revocations', { entity_id: id })).toMatchObject(access)
    await mutate(`rotateMachineUserToken(id: "${machineUserID}") { generatedToken }`)
    await mutate(`updateMachineUser(id: "${machineUserID}", input: {enabled: false}) { id }`)
    await find('credential-rotations', { entity_id: machineUserID, action: 'rotate' })
    expect(await find('access-revocations', { entity_id: machineUserID, action: 'update' })).toMatchObject({
      subject_type: 'machine_user',
      subject_id: machineUserID,
    })
    await mutate(`updateMachineUser(id: "${machineUserID}", input: {enabled: true, name: "renamed"}) { id }`)
    const lifecycle = (await rowsOf('machine-user-lifecycle')).filter(
      (row) => row['entity_id'] === machineUserID,
    )
    expect(lifecycle.map(({ action, enabled_after }) => [action, enabled_after])).toEqual([
      ['update', true],
      ['update', false],
      ['rotate', null],
      ['create', true],
    ])
  })

  test('[evidence.names-access] credentials that nobody renewed or used since the window began', async () => {
    const old = "now() - interval '100 days'"
    const [used, unused] = [await createToken(service, admin), await createToken(service, admin)]
    const machine = await createMachine(service, admin, project.environmentId)
    const rotated = await createMachine(service, admin, project.environmentId)
    await service.sql.query(`update personal_access_tokens set created_at = ${old} where id = any($1)`, [
      [used.id, unused.id],
    ])
    await service.sql.query('update personal_access_tokens set last_used_at = now() where id = $1', [used.id])
    await service.sql.query(`update machine_users set created_at = ${old} where id = any($1)`, [
      [machine.id, rotated.id],
    ])
    await service.sql.query('update machine_users set last_rotated_at = now() where id = $1', [rotated.id])
    const stale = await evidenceRows(service, admin, 'stale-credentials', {})
    const known = new Set([used.id, unused.id, machine.id, rotated.id])
    const found = stale.filter((row) => known.has(row['credential_id'] as string))
    expect(Object.fromEntries(found.map((row) => [row['credential_id'], row['reason']]))).toEqual({
      [unused.id]: 'never used',
      [machine.id]: 'not rotated',
    })
    await service.sql.query('update personal_access_tokens set revoked = true where id = $1', [unused.id])
    await service.sql.query('update machine_users set enabled = false where id = $1', [machine.id])
    expect(
      (await evidenceRows(service, admin, 'stale-credentials', {})).filter((row) =>
        known.has(row['credential_id'] as string),
      ),
    ).toEqual([])
  })

  test('[evidence.names-auth] tokens, logins from terminals, and changes of endpoints, settings and triggers', async () => {
    const { id, tokenPrefix } = await createToken(service, admin, { name: 'of a pipeline' })
    await mutate(`revokePersonalAccessToken(id: "${id}") { id }`)
    for (const action of ['create', 'revoke'])
      expect(await find('pat-lifecycle', { entity_id: id, action })).toMatchObject({
        token_prefix: tokenPrefix,
        token_name: 'of a pipeline',
        owner_id: admin.id,
        owner_email: admin.email,
      })
    const terminal = await openTerminal(service)
    const { user_code } = await terminal.login()
    await decide(service, admin, user_code, 'deny')
    expect(await find('cli-logins', { action: 'deny' })).toMatchObject({
      status_before: 'pending',
      status_after: 'denied',
    })
    const { id: endpointId } = await mutate(
      `createEndpoint(applicationId: "${project.applicationId}", input: {name: "orders", consumeURL: "/orders"}) { id }`,
    )
    await mutate(
      `updateEndpoint(id: "${endpointId}", input: {authType: Bearer, authToken: "hush-hush"}) { id }`,
    )
    const secret = await find('endpoint-changes', { entity_id: endpointId, action: 'update' })
    expect(secret['changes']).toMatchObject({ authToken: { after: '[secret]' } })
    await find('credential-rotations', { entity_id: endpointId })
    expect(JSON.stringify(await rowsOf('endpoint-changes'))).not.toContain('hush-hush')
    await mutate(
      `createTrigger(applicationId: "${project.applicationId}", input: {name: "nightly", cronExpression: "@daily"}) { id }`,
    )
    expect(await find('trigger-changes', { action: 'create' })).toMatchObject({ entity_type: 'trigger' })
    const { id: rowId } = await mutate(
      `ensureTenant2ApplicationSettings(tenant2ApplicationId: "${project.tenant2ApplicationId}") { id }`,
    )
    expect(await find('settings-changes', { entity_id: rowId })).toMatchObject({ entity_type: 'settings' })
  })

  test('[evidence.names-auth] failures and lockouts are counted by minute, kind and network', async () => {
    // A process writes its counts when it stops, or earlier.
    const other = await startTestApp({
      database: service.database,
      env: { SVC_THROTTLES_VALIDATE_FAILURES: '3' },
    })
    const client = '203.0.113.7'
    for (let i = 0; i < 5; i++) await validate(other.url, 'Bearer pat_wrong', project.applicationId, client)
    await fetch(`${other.url}/query`, {
      method: 'POST',
      headers: { 'x-proxy-auth': 'wrong', 'x-forwarded-for': client },
    })
    await fetch(`${other.url}/query`, { method: 'POST', headers: headersOf({ id: 'no uuid' }) })
    await fetch(`${other.url}/api/machine/check`, { headers: { authorization: `Bearer ${'x'.repeat(43)}` } })
    await other.close()
    const failures = await rowsOf('failed-authentications')
    const count = (kind: string, network: string): number =>
      failures
        .filter((row) => row['kind'] === kind && row['client_network'] === network)
        .reduce((sum, row) => sum + Number(row['failures']), 0)
    expect(count('pat', client)).toBe(5)
    // Without the secret, the forwarded client address is not trusted.
    expect([count('proxy_secret', '127.0.0.1'), count('proxy_secret', client)]).toEqual([1, 0])
    expect(count('identity', '127.0.0.1')).toBe(1)
    expect(count('machine_token', '127.0.0.1')).toBe(1)
    const [lockout, ...more] = (await rowsOf('lockouts')).filter((row) => row['client'] === client)
    expect(more).toEqual([])
    expect(lockout).toMatchObject({ throttle: 'validate', lockouts: expect.any(Number) })
    expect(Number(lockout?.['longest_block_ms'])).toBeGreaterThan(0)
  })

  test('[evidence.names-operations] releases, runs of triggers, and calls through the ESB', async () => {
    const key = { projectId: project.id, name: 'shop', version: '1.0.0' }
    const { body } = await uploadPilet(service, admin, key)
    expect(await find('pilet-releases', { entity_id: body.id })).toMatchObject({ sha256: body.hash })
    const triggerId = await seedTrigger(service.sql, project)
    const { id: projectId, applicationId, environmentId } = project
    await seedRuns(
      service.sql,
      { projectId, applicationId, triggerId, environmentId },
      { count: 3, until: new Date() },
    )
    const runs = (await rowsOf('trigger-executions')).filter((row) => row['trigger_id'] === triggerId)
    expect(runs.map(({ outcome }) => outcome)).toEqual(['missed', 'missed', 'missed'])
    const caller = await seedCaller(service.sql, project)
    const ofCaller = (row: EvidenceRow): boolean => row['endpoint_id'] === caller.endpointId
    await seedCall(service.sql, caller)
    await seedCall(service.sql, caller, { responseStatus: 502, path: '/orders?token=abc', durationMs: 30 })
    await seedCall(service.sql, caller, { responseStatus: null, durationMs: null })
    const failed = (await rowsOf('esb-failures')).filter(ofCaller)
    expect(
      new Set(failed.map(({ response_status, path }) => `${String(response_status)} ${String(path)}`)),
    ).toEqual(new Set(['502 /orders', 'null /orders']))
    const summary = (await rowsOf('esb-traffic-summary')).find(ofCaller)
    expect(summary).toMatchObject({
      day: new Date().toISOString().slice(0, 10),
      project_id: project.id,
      machine_user_id: caller.machineUserId,
      calls: 3,
      succeeded: 1,
      failed: 1,
      without_end: 1,
      mean_duration_ms: 21,
      longest_duration_ms: 30,
    })
  })

  test('[evidence.names-operations] who asked for evidence is evidence too, and a run does not list itself', async () => {
    const runs = async () =>
      (await rowsOf('audit-access')).filter((row) => row['entity_id'] === 'audit-access').length
    const before = await runs()
    expect(await runs()).toBe(before + 1)
    const last = await find('audit-access', { entity_id: 'audit-access' })
    expect(last).toMatchObject({ entity_type: 'evidence', action: 'read', principal_id: admin.id })
    expect(Object.keys(last['asked_for'] as object)).toEqual(['to', 'from'])
    expect(await rowsOf('access-review-attestations')).toEqual([])
  })
})
