// Property tests draw the same values in every run, so that a change is judged by itself and not by chance. The nightly tier draws new
// ones (PROPERTY_SEED=random).
import { configureGlobal, readConfigureGlobal } from 'fast-check'

if (process.env['PROPERTY_SEED'] !== 'random') configureGlobal({ ...readConfigureGlobal(), seed: 20_261_118 })
