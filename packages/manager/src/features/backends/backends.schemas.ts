// These schemas describe the routes for registrations, heartbeats and the tenants of an application.
import { Type } from 'typebox'
import { errorResponses, idInPath, uuid } from '../../platform/http/http.schemas.ts'

const tags = ['machines' as const]
const success = Type.Literal(true)
const message = Type.String({ description: 'Description of the change.' })
const ownParams = Type.Object({ id: idInPath('The registration') })

const registered = Type.Object(
  {
    success,
    registered_id: uuid('The registration; use it in heartbeats.'),
    token: Type.String({
      description: 'Callbacks send this token as `Authorization: Bearer`. It is shown only once.',
    }),
    signing_secret: Type.String({
      description:
        'Secret that verifies the `webhook-signature` of callbacks (Standard Webhooks). It is shown only once.',
    }),
    message,
    environment_id: uuid('The environment of the machine user.'),
    application_id: uuid('The application.'),
  },
  { $id: 'RegisteredBackend' },
)

export const registerSchema = {
  operationId: 'registerBackend',
  summary: 'Registers the caller as a backend of an application, for trigger callbacks',
  description:
    'An application and a machine user have one registration. Registering again updates it and replaces its token and signing secret.',
  tags,
  body: Type.Object({
    application_id: uuid("An application in the project of the machine user's environment."),
    callback_url: Type.String({
      title: 'an absolute http or https URL',
      description:
        'URL without user name or password, at most 2,048 characters. The host must have a public address or belong to an allowed network (`callbacks.allowed_cidrs`).',
    }),
    version: Type.Optional(
      Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
        description: 'Version of the backend, for display.',
      }),
    ),
  }),
  response: { 200: registered, 201: registered, ...errorResponses('envelope', 401, 404) },
}

export const heartbeatSchema = {
  operationId: 'sendHeartbeat',
  summary: 'Records a heartbeat of a registered backend',
  description: 'Send a heartbeat every 30 s. If the route returns 404, register again.',
  tags,
  params: ownParams,
  response: {
    200: Type.Object({ success, registered_id: uuid('The registration.'), message }),
    ...errorResponses('envelope', 403, 404, 413),
  },
}

export const unregisterSchema = {
  operationId: 'unregisterBackend',
  summary: 'Removes a registration and stops its callbacks',
  tags,
  params: ownParams,
  response: { 200: Type.Object({ success, message }), ...errorResponses('envelope', 403, 404, 413) },
}

export const applicationTenantsSchema = {
  operationId: 'listTenantsOfApplication',
  summary: 'Returns the tenants for which an application is enabled',
  description:
    'The response is a stream of all tenants, ordered by id. If the connection closes before the JSON is complete, the request failed.',
  tags,
  params: Type.Object({ id: idInPath('The application') }),
  response: {
    200: Type.Object({
      success,
      tenants: Type.Array(Type.Object({ id: uuid('The tenant.'), name: Type.String() })),
    }),
    ...errorResponses('envelope', 404),
  },
}
