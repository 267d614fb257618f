// What backends send and receive: registration, heartbeats, and the tenants of their application.
import { Type } from 'typebox'
import { errorResponses, idInPath, uuid } from '../../platform/http/http.schemas.ts'

const tags = ['machines' as const]
const success = Type.Literal(true)
const message = Type.String({ description: 'What was done.' })
const ownParams = Type.Object({ id: idInPath('The registration') })

const registered = Type.Object(
  {
    success,
    registered_id: uuid('The registration; heartbeats name it.'),
    token: Type.String({ description: 'Callbacks carry it as `Authorization: Bearer`. Shown once.' }),
    signing_secret: Type.String({
      description: 'Verifies `webhook-signature` of callbacks (Standard Webhooks). It is never sent again.',
    }),
    message,
    environment_id: uuid('The environment of the machine user.'),
    application_id: uuid('The application.'),
  },
  { $id: 'RegisteredBackend' },
)

export const registerSchema = {
  operationId: 'registerBackend',
  summary: 'Registers the caller as backend of an application, to be called back by triggers',
  description:
    'There is one registration for an application and a machine user: registering again updates it and replaces its token and its signing secret.',
  tags,
  body: Type.Object({
    application_id: uuid("An application of the project of the machine user's environment."),
    callback_url: Type.String({
      title: 'an absolute http or https URL',
      description:
        'Absolute, `http` or `https`, without user name or password, at most 2,048 characters; of a public address or of an opened network (`callbacks.allowed_cidrs`).',
    }),
    version: Type.Optional(
      Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
        description: 'Which version of the backend this is, for people.',
      }),
    ),
  }),
  response: { 200: registered, 201: registered, ...errorResponses('envelope', 401, 404) },
}

export const heartbeatSchema = {
  operationId: 'sendHeartbeat',
  summary: 'Says that a registered backend is alive',
  description: 'To be sent every 30 seconds. After 404 the backend registers again.',
  tags,
  params: ownParams,
  response: {
    200: Type.Object({ success, registered_id: uuid('The registration.'), message }),
    ...errorResponses('envelope', 403, 404, 413),
  },
}

export const unregisterSchema = {
  operationId: 'unregisterBackend',
  summary: 'Ends a registration; no callback follows',
  tags,
  params: ownParams,
  response: { 200: Type.Object({ success, message }), ...errorResponses('envelope', 403, 404, 413) },
}

export const applicationTenantsSchema = {
  operationId: 'listTenantsOfApplication',
  summary: 'The tenants an application is enabled for',
  description:
    'All of them, by id, as a stream: a connection that ends before the JSON does was cut by a failure.',
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
