import { Type } from 'typebox'
import { createErrorResponses, createUuidSchema } from '../../platform/http/http.schemas.ts'

export const machineCheckSchema = {
  operationId: 'checkMachineCredential',
  summary: 'Reports whether the presented machine token is valid',
  description:
    'Send the token as `Authorization: Bearer`. For an invalid token, the route returns 200, not an error.',
  tags: ['machines' as const],
  optionalCredential: 'machineToken' as const,
  response: {
    200: Type.Union([
      Type.Object({
        authenticated: Type.Literal(true),
        machine_user_id: createUuidSchema('The machine user.'),
        environment_id: createUuidSchema('The environment of the machine user.'),
      }),
      Type.Object({ authenticated: Type.Literal(false), message: Type.String() }),
    ]),
    ...createErrorResponses('error', 401),
  },
}
