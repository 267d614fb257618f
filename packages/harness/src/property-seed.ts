// Property tests draw the same values in every run, so that a failure is caused by the change and not by
// chance. Nightly tests draw new values (PROPERTY_SEED=random).
import { configureGlobal, readConfigureGlobal } from 'fast-check'

if (process.env['PROPERTY_SEED'] !== 'random') configureGlobal({ ...readConfigureGlobal(), seed: 20_261_118 })
