// These columns show the subject and the entity of an access change in an audit row. A change contains only the fields
// that differ. For memberships, the description names the subject. For machine users and tenants, the subject is in
// the row that created the access.
import { castToUuid } from './trail-query.pure.ts'

export const membershipKinds = ['user2project', 'user2tenant', 'user2application']
/**
 * Access that is not a membership: a machine user's access to an endpoint, and a tenant's access to an
 * application.
 */
export const assignments = ['machineUser2Endpoint', 'tenant2Application']

const readField = (name: string): string =>
  `coalesce(l.changes #>> '{${name},after}', l.changes #>> '{${name},before}', made.changes #>> '{${name},after}')`
const memberId = `coalesce(l.changes #>> '{userId,after}', l.changes #>> '{userId,before}',
  substring(l.description from 'of user ([0-9a-f-]{36}) (?:granted|updated|revoked)$'))`

const subjectId = `case l.entity_type
  when 'user' then l.entity_id
  when 'machineUser' then l.entity_id
  when 'machineUser2Endpoint' then ${readField('machineUserId')}
  when 'groupRule' then ${readField('groupId')}
  when 'tenant2Application' then ${readField('tenantId')}
  when 'user2project' then ${memberId} when 'user2tenant' then ${memberId} when 'user2application' then ${memberId}
end`
const scopeId = `case l.entity_type
  when 'user2project' then l.chain_id::text
  when 'groupRule' then coalesce(${readField('tenantId')}, ${readField('applicationId')}, l.chain_id::text)
  when 'user2tenant' then ${readField('tenantId')}
  when 'tenantRoleDefinition' then ${readField('tenantId')}
  when 'user2application' then ${readField('applicationId')}
  when 'tenant2Application' then ${readField('applicationId')}
  when 'machineUser2Endpoint' then ${readField('endpointId')}
  when 'project' then l.entity_id when 'tenant' then l.entity_id
  when 'application' then l.entity_id when 'endpoint' then l.entity_id
end`

/** The people to whom a group rule gave a role, or from whom it took one: their number and their ids. */
export const peopleColumns = {
  people: "(l.metadata ->> 'people')::int",
  person_ids: "l.metadata -> 'userIds'",
}

/** Requires `accessJoins`. The names are current names, or null for deleted entities. */
export const accessColumns = {
  subject_type: `case when l.entity_type in ('user', 'user2project', 'user2tenant', 'user2application') then 'user'
    when l.entity_type in ('machineUser', 'machineUser2Endpoint') then 'machine_user'
    when l.entity_type = 'tenant2Application' then 'tenant' when l.entity_type = 'groupRule' then 'group' end`,
  subject_id: 'of_access.subject_id',
  subject_name:
    "coalesce(nullif(subject_user.external_name, ''), subject_user.external_username, subject_machine.name, subject_tenant.name, subject_group.display_name)",
  subject_email: "nullif(subject_user.external_email, '')",
  scope_type: `case l.entity_type when 'user' then 'system' when 'user2project' then 'project' when 'user2tenant' then 'tenant'
    when 'tenantRoleDefinition' then 'tenant' when 'user2application' then 'application'
    when 'tenant2Application' then 'application' when 'machineUser2Endpoint' then 'endpoint'
    when 'machineUser' then 'project'
    when 'groupRule' then case when ${readField('tenantId')} is not null then 'tenant'
      when ${readField('applicationId')} is not null then 'application' else 'project' end
    else l.entity_type end`,
  scope_id: 'of_access.scope_id',
  scope_name: 'coalesce(scope_tenant.name, scope_application.name, scope_endpoint.name, scope_project.name)',
}

export const accessJoins = `
  left join lateral (
    select c.changes from audit_logs c
    where l.action = 'update' and l.entity_type not in ('user', 'user2project')
      and c.chain_id = l.chain_id and c.entity_id = l.entity_id and c.action in ('create', 'grant')
    order by c.seq limit 1
  ) made on true
  cross join lateral (select ${subjectId} as subject_id, ${scopeId} as scope_id) of_access
  cross join lateral (
    select ${castToUuid('of_access.subject_id')} as subject_id, ${castToUuid('of_access.scope_id')} as scope_id
  ) ids
  left join users subject_user on subject_user.id = ids.subject_id
  left join machine_users subject_machine on subject_machine.id = ids.subject_id
  left join tenants subject_tenant on subject_tenant.id = ids.subject_id
  left join scim_groups subject_group on subject_group.id = ids.subject_id
  left join projects scope_project on scope_project.id = ids.scope_id
  left join tenants scope_tenant on scope_tenant.id = ids.scope_id
  left join applications scope_application on scope_application.id = ids.scope_id
  left join endpoints scope_endpoint on scope_endpoint.id = ids.scope_id`
