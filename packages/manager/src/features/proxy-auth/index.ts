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

type Deps = Omit<CredentialDeps & PersonDeps & BasicProofDeps, 'throttle' | 'guesses'> &
  ThrottleDeps & { config: Config }

export const proxyAuth = defineFeature({
  name: 'proxyAuth',
  role: 'api',
  create: (deps: Deps) => {
    const { throttle, guesses } = createThrottles(deps)
    const own = { ...deps, throttle, guesses }
    const validateCredential = createValidateCredential(own, createBasicLogin(own))
    const people = createPersonService(own)
    return {
      routes: (server) => registerProxyAuthRoutes(server, validateCredential, people),
      close: async () => {
        await throttle.close()
        await guesses.close()
      },
      api: {},
    }
  },
})

function createThrottles(deps: Deps) {
  const settings = settingsOf(deps.config, proxyAuthSettings)
  return {
    throttle: createThrottle('validate', throttleLimits('validate', settings), deps),
    guesses: createThrottle('basic', throttleLimits('basic', settings), deps),
  }
}
