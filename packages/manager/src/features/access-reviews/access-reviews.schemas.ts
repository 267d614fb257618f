// What reviewers ask for and send, and the responses.
import { type TSchema, Type } from 'typebox'
import { chainSchema } from '../../platform/http/chain.schemas.ts'
import { errorResponses, errorSchemas, uuid } from '../../platform/http/http.schemas.ts'
import { notBlank } from '../../platform/http/validation.ts'
import { activities, flags, principalTypes, recommendations, scopeTypes } from './flags.pure.ts'

const timestamp = (description: string) => Type.String({ format: 'date-time', description })
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const decisions = ['approve', 'revoke', 'modify'] as const
const decision = Type.Enum(decisions, { title: 'approve, revoke or modify' })
const counts = (names: readonly string[], description: string) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.Integer()])), { description })
const populationHash = Type.String({
  description: 'SHA-256 over the scope and every access; it changes when access does.',
})

const attested = Type.Object({
  attestation_id: Type.String({ format: 'uuid' }),
  attested_at: timestamp('When.'),
  attested_by: Type.String({ format: 'uuid', description: 'The user.' }),
  decision: Type.Enum(decisions),
})

const entry = Type.Object(
  {
    entry_id: Type.String({ description: 'The same for the same access of the same principal.' }),
    principal_type: Type.Enum(principalTypes),
    principal_id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    email: Type.String({ description: 'Of a token, its owner’s; empty for machine users.' }),
    scope_type: Type.Enum(scopeTypes),
    scope_id: nullable(Type.String({ format: 'uuid', description: 'Null for the system.' })),
    scope_name: Type.String(),
    project_id: nullable(Type.String({ format: 'uuid' })),
    role: Type.String(),
    enabled: Type.Boolean({ description: 'Whether it can be used, apart from its end.' }),
    granted_at: nullable(timestamp('When this role was given.')),
    granted_by: nullable(
      Type.String({
        description: 'A user or machine user by id, or a command by name, from the audit trail.',
      }),
    ),
    last_activity_at: nullable(timestamp('Of the principal, wherever; about an hour exact.')),
    expires_at: nullable(timestamp('The end of a token.')),
    flags: Type.Array(Type.Enum(flags)),
    recommendation: Type.Enum(recommendations),
    last_attestation: nullable(attested),
  },
  { $id: 'AccessReviewEntry' },
)

const summary = Type.Object({
  entries: Type.Integer(),
  principals: Type.Integer(),
  activity_recorded_since: timestamp('What users and machine users did before is not known.'),
  principals_by_scope_type: counts(scopeTypes, 'Principals with access to a scope of this type.'),
  by_principal_type: counts(principalTypes, 'Entries.'),
  by_scope_type: counts(scopeTypes, 'Entries.'),
  by_flag: counts(flags, 'Entries; one may have several flags.'),
  by_recommendation: counts(recommendations, 'Entries.'),
  by_last_activity: counts(activities, 'Entries, by how long ago the principal was active.'),
  by_role: Type.Array(
    Type.Object({ scope_type: Type.Enum(scopeTypes), role: Type.String(), entries: Type.Integer() }),
    { description: 'The most frequent 100.' },
  ),
  other_roles: Type.Integer({ description: 'Entries of roles that are not listed.' }),
})

const report = Type.Object(
  {
    report_id: Type.String({ format: 'uuid' }),
    generated_at: timestamp('The moment that the report shows.'),
    scope: Type.Union([
      Type.Object({ type: Type.Literal('system') }),
      Type.Object({
        type: Type.Literal('project'),
        id: Type.String({ format: 'uuid' }),
        name: Type.String(),
      }),
    ]),
    population_hash: populationHash,
    summary,
    entries: Type.Array(entry),
    chain: chainSchema,
  },
  { $id: 'AccessReview' },
)

export const reviewSchema = {
  operationId: 'readAccessReview',
  summary: 'All the access there is, for somebody who reviews it',
  description:
    'One moment, complete or 503. JSON; CSV with `format=csv`; an HTML page if the client prefers `text/html`. Each report is recorded.',
  tags: ['people' as const],
  querystring: Type.Object({
    project_id: Type.Optional(uuid('Only the access in this project.')),
    format: Type.Optional(
      Type.Enum(['json', 'csv'], { title: 'json or csv', description: 'Whatever `Accept` says.' }),
    ),
  }),
  alternatives: {
    'text/csv': Type.String({ description: 'A header record, then a record for each entry.' }),
    'text/html': Type.String({ description: 'The summary, up to 1,000 entries, and a form to attest with.' }),
  },
  response: { 200: report, ...errorResponses('error') },
}

const maxEntries = 10_000
const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, description }))
const hex = (digits: 32 | 64, description: string) =>
  Type.String({
    pattern: digits === 32 ? '^[0-9a-f]{32}$' : '^[0-9a-f]{64}$',
    title: `${digits} hexadecimal digits`,
    description,
  })

export const attestSchema = {
  operationId: 'attestAccessReview',
  summary: 'Answer for what a review has shown',
  description:
    'It is recorded and changes no access: what is to be revoked or modified is done by the usual operations. Without `entries` it is about every entry of the population, with them about those alone. Sent twice, it is recorded twice.',
  tags: ['people' as const],
  body: Type.Object({
    report_id: Type.Optional(uuid('The report; without it the scope is the system.')),
    population_hash: Type.Optional(hex(64, 'As the report has it. Another population answers 409.')),
    decision,
    comment: text(2_000, 'Kept with the attestation and in the audit trail.'),
    entries: Type.Optional(
      Type.Array(
        Type.Object({
          entry_id: hex(32, 'As the report has it.'),
          decision,
          justification: text(1_000, 'Why.'),
        }),
        {
          minItems: 1,
          maxItems: maxEntries,
          title: `1 to ${maxEntries} objects with entry_id (32 hexadecimal digits), decision (approve, revoke or modify) and justification (at most 1000 characters)`,
        },
      ),
    ),
  }),
  response: {
    200: Type.Object({
      attestation_id: Type.String({ format: 'uuid' }),
      attested_at: timestamp('When.'),
      attested_by: Type.String({ format: 'uuid', description: 'The user.' }),
      report_id: nullable(Type.String({ format: 'uuid' })),
      population_hash: populationHash,
      entries: Type.Integer({ description: 'How many entries it is about.' }),
    }),
    ...errorResponses('error', 404, 409),
  },
}

export const attestFormSchema = {
  operationId: 'attestAccessReviewByForm',
  summary: 'Answer for what the page of a review has shown',
  description:
    'The form of the page. The attestation is about every entry of the report; the response is a page that says what was recorded.',
  tags: ['people' as const],
  consumes: 'application/x-www-form-urlencoded' as const,
  body: Type.Object(
    {
      report_id: uuid('The report, as the page has it.'),
      form_token: Type.String({ maxLength: 200, pattern: notBlank, description: 'As the page has it.' }),
      decision,
      comment: Type.String({ description: 'May be empty; at most 2,000 characters.' }),
      confirmed: Type.Optional(
        Type.String({ maxLength: 10, description: '`yes` when the person has looked; needed to attest.' }),
      ),
    },
    { title: 'the form of the page' },
  ),
  produces: 'text/html',
  response: {
    200: Type.String({ description: 'HTML.' }),
    401: errorSchemas.page,
    ...errorResponses('page', 403, 404, 409, 413, 415),
  },
}
