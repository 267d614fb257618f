// Responses to the trusted proxy: who a credential or a signed-in person is, what they may do in an application, and
// which tenants they may choose from. The credentials themselves are not here (access-tokens/, machine-users/).
import { type Config, settingsOf } from '../../config/config.ts'
import { throttleLimits } from '../../config/throttle-settings.ts'
import { defineFeature } from '../../feature.ts'
import { type ThrottleDeps, createThrottle } from '../../platform/throttle/throttle.ts'
import { createBasicLogin } from './basic-login.service.ts'
import type { BasicProofDeps } from './basic-proof.service.ts'
import { type CredentialDeps, createValidateCredential } from './credential.service.ts'
import { type PersonDeps, createPersonService } from './person.service.ts'
import { registerProxyAuthRoutes } from './proxy-auth.routes.ts'
import { proxyAuthSettings } from './proxy-auth.settings.ts'

type Deps = Omit<CredentialDeps & PersonDeps & BasicProofDeps, 'throttle' | 'guesses' | 'malformed'> &
  ThrottleDeps & { config: Config }

export const proxyAuth = defineFeature({
  name: 'proxyAuth',
  role: 'api',
  settings: proxyAuthSettings,
  create: (deps: Deps) => {
    const throttles = createThrottles(deps)
    const own = { ...deps, ...throttles }
    const validateCredential = createValidateCredential(own, createBasicLogin(own))
    const people = createPersonService(own)
    return {
      routes: (server) => registerProxyAuthRoutes(server, validateCredential, people),
      close: async () => {
        await Promise.all(Object.values(throttles).map((throttle) => throttle.close()))
      },
      api: {},
    }
  },
})

function createThrottles(deps: Deps) {
  const settings = settingsOf(deps.config, proxyAuthSettings)
  const limits = throttleLimits('validate', settings)
  return {
    throttle: createThrottle('validate', limits, deps),
    // Apart from credentials: whoever tries tokens at one address must not lock out the people who sign in there.
    malformed: createThrottle('validate-oauth', limits, deps),
    guesses: createThrottle('basic', throttleLimits('basic', settings), deps),
  }
}
