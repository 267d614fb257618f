// The response to a backend that asks about its own credential.
import { Type } from 'typebox'
import { errorResponses, uuid } from '../../platform/http/http.schemas.ts'

export const machineCheckSchema = {
  operationId: 'checkMachineCredential',
  summary: 'Whether the presented machine token is valid',
  description:
    'The token is presented as `Authorization: Bearer`; one that is not valid is a normal response, not an error.',
  tags: ['machines' as const],
  optionalCredential: 'machineToken' as const,
  response: {
    200: Type.Union([
      Type.Object({
        authenticated: Type.Literal(true),
        machine_user_id: uuid('The machine user.'),
        environment_id: uuid('Its environment.'),
      }),
      Type.Object({ authenticated: Type.Literal(false), message: Type.String() }),
    ]),
    ...errorResponses('error', 401),
  },
}
