// What the proxy asks about callers, and the responses.
import { Type } from 'typebox'
import { errorResponses, idInPath, uuid } from '../../platform/http/http.schemas.ts'
import { notBlank } from '../../platform/http/validation.ts'

const tenant = Type.Object({ id: uuid('The tenant.'), name: Type.String() }, { $id: 'TenantName' })

const validation = Type.Object(
  {
    valid: Type.Literal(true),
    user: Type.Object({
      id: uuid('The person or machine user.'),
      email: Type.String({ description: 'Empty for machine users.' }),
      name: Type.String(),
      username: Type.String(),
      is_machine_user: Type.Boolean(),
      is_personal_token: Type.Boolean(),
    }),
    tenant: Type.Union([tenant, Type.Null()], {
      description: 'The one available tenant when there is exactly one.',
    }),
    application: Type.Object({
      has_access: Type.Boolean({ description: 'Whether the caller may use the application.' }),
      role: Type.Union([Type.Literal('normal'), Type.Literal('readonly'), Type.Null()]),
      available_tenants: Type.Array(tenant, { description: 'By name, at most 10,000.' }),
      available_tenants_truncated: Type.Optional(
        Type.Literal(true, { description: 'There are more tenants than listed.' }),
      ),
    }),
  },
  { $id: 'Validation' },
)

/** A text that may be left out, null or empty. */
const optionalText = (maxLength: number, description: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()], { description }))

export const validateCredentialSchema = {
  operationId: 'validateProxyAuth',
  summary: 'Whose a credential is, and what its owner may do in an application',
  description: 'A valid credential is answered 200, also where its owner has no access.',
  tags: ['proxy' as const],
  body: Type.Object({
    authorization_header: Type.String({
      maxLength: 8_192,
      pattern: notBlank,
      description: "The caller's `Authorization` as it came, or a personal access token by itself.",
    }),
    application_id: uuid('The application that is called.'),
  }),
  response: { 200: validation, ...errorResponses('validation', 401, 429) },
}

export const validatePersonSchema = {
  operationId: 'validateOauthUser',
  summary: 'What a person the proxy has signed in may do in an application',
  description: 'A person not seen before becomes a user; a changed name or e-mail is taken over.',
  tags: ['proxy' as const],
  body: Type.Object({
    user_id: uuid('The subject at the identity provider.'),
    email: optionalText(320, 'Absent, null or empty: unchanged.'),
    name: optionalText(200, 'Absent, null or empty: unchanged.'),
    application_id: uuid('The application that is called.'),
  }),
  response: { 200: validation, ...errorResponses('validation', 429) },
}

export const listTenantsSchema = {
  operationId: 'listTenantsOfUser',
  summary: 'The tenants a person may choose from',
  tags: ['proxy' as const],
  params: Type.Object({ user_id: idInPath('The person') }),
  querystring: Type.Object({
    application_id: Type.Optional(
      Type.String({ description: 'Only tenants that this application is enabled for; empty: all.' }),
    ),
  }),
  response: {
    200: Type.Object({
      tenants: Type.Array(
        Type.Object({
          id: uuid('The tenant.'),
          name: Type.String(),
          slug: Type.String(),
          role: Type.String({ description: 'In the tenant, else in the project, else `administrator`.' }),
          project_id: uuid('The project of the tenant.'),
          deployment_mode: Type.String(),
        }),
        { description: 'By name, at most 10,000.' },
      ),
      truncated: Type.Optional(Type.Literal(true, { description: 'There are more tenants than listed.' })),
    }),
    ...errorResponses('error'),
  },
}
