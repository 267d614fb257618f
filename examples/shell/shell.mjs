// A frontend shell without a framework or a build step. It reads the application's configuration for the
// tenant and shows its text in the user's language. It also runs the pilets with a valid signature and shows
// a bell. README.md lists the files and routes that the server must provide.
import { ResponseError, connect, frontendConfig } from '../../packages/client/src/index.ts'
import { loadPilets } from '../pilet-loader.mjs'
import { showBell } from './bell.mjs'
import { chooseLocale, loadTexts, showTexts } from './texts.mjs'

// The proxy writes this object into the page, so a page cannot choose its user.
const { application, tenant, user, pilet_signing_keys: keys } = window['__SVC__'].config
const getElement = (id) => document.getElementById(id)
const manager = connect({ url: location.origin })

const readConfig = () => frontendConfig(manager, { applicationId: application.id, tenantId: tenant.id })

const config = await readConfig()
const texts = await loadTexts(manager, application.id, chooseLocale(config, navigator.languages))
const { text } = texts
showTexts(texts)
document.title = `${application.name}, ${tenant.name}`
getElement('application').textContent = document.title
getElement('welcome').textContent = text('shell.welcome', { name: user.name })
showSettings(config)

/** Functions that pilets register to receive the inbox. A pilet can be loaded after the inbox has been read. */
const listeners = []
let inbox = null
showBell(manager, application.id, {
  texts,
  onInbox: (notifications) => {
    inbox = notifications
    listeners.forEach((listener) => listener(notifications))
  },
  onEnd: refreshSettings,
})
// Settings may have changed while the visitor was on another page.
window.addEventListener('focus', () => void refreshSettings())

const piletApi = { addSection, text, onInbox }
const results = await loadPilets(`/pilet-feed/${application.id}/${tenant.id}`, keys, piletApi, {
  project: config.projectId,
})
const refusedPilets = results.filter((result) => result.refused !== undefined)
if (refusedPilets.length > 0) {
  const names = refusedPilets.map(({ name, refused: why }) => `${name} (${why})`).join(', ')
  addSection(text('shell.refused', { names }))
}

function onInbox(listener) {
  listeners.push(listener)
  if (inbox !== null) listener(inbox)
}

/** Adds a section with a heading for a pilet. The title is text, never HTML. */
function addSection(title) {
  const section = document.createElement('section')
  const heading = document.createElement('h2')
  heading.textContent = title
  section.append(heading)
  getElement('pilets').append(section)
  return section
}

/** Applies the settings of the tenant. */
function showSettings({ defaultTheme, keyValuePairs }) {
  const find = (wanted) => keyValuePairs.find(({ key }) => key === wanted)?.value ?? ''
  document.documentElement.dataset.theme = defaultTheme
  getElement('notice').textContent = find('shop.notice')
  getElement('notice').hidden = find('shop.notice') === ''
  getElement('support').textContent = find('support.mail')
  getElement('support').href = `mailto:${find('support.mail')}`
  document.querySelector('footer').hidden = find('support.mail') === ''
}

/** Reads the settings again. If the tenant has lost the application, the server shows a page that says so. */
async function refreshSettings() {
  try {
    showSettings(await readConfig())
  } catch (error) {
    if (error instanceof ResponseError && error.status < 500) location.reload()
  }
}
