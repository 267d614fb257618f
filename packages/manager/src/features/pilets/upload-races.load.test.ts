// These tests upload one version to PostgreSQL several times concurrently.
import { testUploadRaces } from '../../../test/kit/upload-races.ts'

testUploadRaces('postgres')
