// Property tests generate the same values in every run, so that only a code change can cause a failure. Nightly tests
// generate new values (PROPERTY_SEED=random).
import { configureGlobal, readConfigureGlobal } from 'fast-check'

if (process.env['PROPERTY_SEED'] !== 'random') configureGlobal({ ...readConfigureGlobal(), seed: 20_261_118 })
