// Tests which rows of access an unknown reader sees.
import { expect, test } from 'vitest'
import { type AccessRecord, createAccessRow } from './access-rows.pure.ts'

const record: AccessRecord = {
  scope: 'TENANT_APPLICATION',
  userId: 'user',
  projectId: 'project',
  tenantId: 'tenant',
  applicationId: 'application',
  isAdministrator: false,
  inProject: { id: 'in project', role: 'owner', grantedAt: '2026-01-01T00:00:00Z' },
  inTenant: {
    id: 'in tenant',
    role: 'member',
    grantedAt: '2026-01-01T00:00:00Z',
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
