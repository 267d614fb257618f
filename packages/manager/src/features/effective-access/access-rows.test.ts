// Tests which rows of access an unknown reader sees.
import { expect, test } from 'vitest'
import { type AccessRecord, createAccessRow } from './access-rows.pure.ts'

const granted = { grantedAt: '2026-01-01T00:00:00Z', groupRuleId: null, group: null }
const record: AccessRecord = {
  scope: 'TENANT_APPLICATION',
  userId: 'user',
  projectId: 'project',
  tenantId: 'tenant',
  applicationId: 'application',
  isAdministrator: false,
  isActive: true,
  inProject: { id: 'in project', role: 'owner', ...granted },
  inTenant: {
    id: 'in tenant',
    role: 'member',
    ...granted,
    permissions: ['apps.read'],
  },
  inApplication: null,
}

test('a reader without known roles sees no more than a stranger, whatever roles the person has', () => {
  for (const isAdministrator of [false, true])
    expect(createAccessRow({ ...record, isAdministrator }, { isSelf: false, roles: null })).toMatchObject({
      tenantId: null,
      applicationId: null,
      hiddenKinds: ['PROJECT_ROLE', 'APPLICATION_ROLE'],
    })
})

test('the roles of a person decide what this person sees', () => {
  expect(createAccessRow(record, { isSelf: true, roles: null })).toMatchObject({
    tenantId: 'tenant',
    applicationId: 'application',
    hiddenKinds: [],
  })
})
