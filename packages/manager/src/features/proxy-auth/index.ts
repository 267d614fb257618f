// Answers to the trusted proxy: who a credential or a signed-in person is, what he may do in an application, and which
// tenants he may choose from. The credentials themselves are not here (access-tokens/, machine-users/).
import type { Feature } from '../../feature.ts'
import { createBasicLogin } from './basic-login.service.ts'
import type { BasicProofDeps } from './basic-proof.service.ts'
import { type CredentialDeps, createValidateCredential } from './credential.service.ts'
import { type PersonDeps, createPersonService } from './person.service.ts'
import { registerProxyAuthRoutes } from './proxy-auth.routes.ts'

export function createProxyAuth(deps: CredentialDeps & PersonDeps & BasicProofDeps): Feature {
  const validateCredential = createValidateCredential(deps, createBasicLogin(deps))
  const people = createPersonService(deps)
  return {
    name: 'proxy-auth',
    role: 'api',
    routes: (server) => registerProxyAuthRoutes(server, validateCredential, people),
    api: {},
  }
}
