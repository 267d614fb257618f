// English texts for sections/pilets.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const pilets = {
  // list
  'pilets.one': 'Pilet',
  'pilets.view.versions': 'Versions',
  'pilets.view.feed': 'Feed preview',
  'pilets.search': 'Name, name@version or id',
  'pilets.name': 'Name',
  'pilets.version': 'Version',
  'pilets.status': 'Status',
  'pilets.enabled': 'enabled',
  'pilets.disabled': 'disabled',
  'pilets.signature': 'Signature',
  'pilets.signed': 'signed',
  'pilets.unsigned': 'not signed',
  'pilets.signatureUnknown': 'not in a feed',
  'pilets.signatureUnknownHint':
    'The signature is known as soon as the feed of an application contains this version.',
  'pilets.unsignedHint': 'Pages refuse versions that are not signed.',
  'pilets.loadedBy': 'Loaded by',
  'pilets.applications': (count: number) => plural(count, { one: '# application', other: '# applications' }),
  'pilets.usedBy': 'Enabled, pinned',
  'pilets.enabledBy': (count: number) => plural(count, { one: '# layer', other: '# layers' }),
  'pilets.pinnedBy': (count: number) => plural(count, { one: '# pin', other: '# pins' }),
  'pilets.size': 'Size',
  'pilets.uploaded': 'Uploaded',
  'pilets.empty': 'No pilets yet',
  'pilets.emptyHint':
    'A pilet is a part of a frontend. Drag a package that npm pack created onto this page, or choose it with the button.',
  'pilets.noMatch': 'No version matches',
  'pilets.noMatchHint': 'The filters hide all versions. A version or an id must match as a whole.',

  // panel
  'pilets.usage': 'Used by',
  'pilets.versions': 'Versions',
  'pilets.moreVersions': 'Show more versions',
  'pilets.description': 'Description',
  'pilets.noDescription': 'This version has no description.',
  'pilets.descriptionHint': 'At most 1,000 characters.',
  'pilets.describeTitle': (name: string, version: string) => `Describe ${name} ${version}`,
  'pilets.facts': 'Version',
  'pilets.bytes': (count: string) => `${count} bytes`,
  'pilets.key': 'Key',
  'pilets.noFeed': 'no application yet, see “Used by”',
  'pilets.changed': 'Changed',
  'pilets.disabledHint': 'This version is disabled: no feed contains it.',
  'pilets.readOnly': 'With your role, you can only view this version.',
  'pilets.askToEnable': 'Developers can enable this version.',
  'pilets.enable': 'Enable',
  'pilets.disable': 'Disable',
  'pilets.wasEnabled': (name: string, version: string) => `Enabled ${name} ${version}`,
  'pilets.wasDisabled': (name: string, version: string) => `Disabled ${name} ${version}`,
  'pilets.disableTitle': (name: string, version: string) => `Disable ${name} ${version}?`,
  'pilets.disableConsequence':
    'Feeds no longer contain this version. Pages that loaded it get the highest other enabled version with their next load, or lose the pilet if there is none.',
  'pilets.disableLoaded': (applications: string) => `Applications that load it now: ${applications}.`,
  'pilets.disablePinned': (count: number) =>
    plural(count, {
      one: '# settings layer pins this version. Its tenants lose the pilet, because a pin has no other version to fall back to.',
      other:
        '# settings layers pin this version. Their tenants lose the pilet, because a pin has no other version to fall back to.',
    }),

  // usage
  'pilets.usagePartial': (count: string) =>
    `More than ${count} layers use this pilet. The list shows the first ones.`,
  'pilets.enabledIn': 'Enabled in',
  'pilets.notEnabledAnywhere':
    'No layer enables this pilet, so no feed contains it. Add its name to EnabledModules in the settings.',
  'pilets.enabledInHint': 'A more specific layer with its own EnabledModules replaces this list.',
  'pilets.pinnedIn': 'Pinned in',
  'pilets.notPinnedAnywhere': 'No layer pins a version. Feeds contain the highest enabled version.',
  'pilets.unpin': (object: string) => `Remove the pin of ${object}`,
  'pilets.wasUnpinned': (name: string, object: string) => `Removed the pin of ${name} in ${object}`,

  // pin
  'pilets.pin': 'Pin',
  'pilets.pinTitle': (name: string, version: string) => `Pin ${name} ${version}`,
  'pilets.pinHint':
    'The tenant gets exactly this version until the pin is removed, even if a higher version is enabled.',
  'pilets.tenant': 'Tenant',
  'pilets.onlyApplication': 'Only in the application',
  'pilets.allApplications': 'All applications',
  'pilets.chooseTenant': 'Choose a tenant first',
  'pilets.neverEnabled': 'The application was never enabled for this tenant',
  'pilets.neverEnabledHint':
    'The application was never enabled for this tenant. Enable it first, or pin the version in all applications.',
  'pilets.alreadyPinned': (version: string) => `The pin is already ${version}.`,
  'pilets.replacesPin': (version: string) => `This replaces the pin to ${version}.`,
  'pilets.pinDisabled':
    'This version is disabled. Until it is enabled, the pin removes the pilet from the feeds of the tenant.',
  'pilets.pinLayers':
    'Pins of different layers are not combined: the pins of the most specific layer replace all pins of the others, also those of other pilets.',
  'pilets.wasPinned': (name: string, version: string, tenant: string) =>
    `Pinned ${name} to ${version} for ${tenant}`,

  // feed
  'pilets.chooseApplication': 'Choose an application',
  'pilets.feedHint':
    'The preview shows which versions its pages load, and why. Choose a tenant to apply its settings and pins.',
  'pilets.sharedHosts': 'Without a tenant',
  'pilets.emptyFeed': 'The feed is empty',
  'pilets.emptyFeedHint':
    'A feed contains the enabled pilets that EnabledModules names. Check the settings and the status of the versions.',
  'pilets.reason': 'Reason',
  'pilets.reason.pin': 'pinned',
  'pilets.reason.highest': 'highest enabled',
  'pilets.spec': 'Format',

  // upload
  'pilets.upload': 'Upload',
  'pilets.uploadCount': (count: number) => plural(count, { one: 'Upload # file', other: 'Upload # files' }),
  'pilets.uploadingShort': (percent: string) => `Uploading ${percent}`,
  'pilets.uploadTitle': 'Upload pilets',
  'pilets.drop': 'Drop the files to add them',
  'pilets.dragHint': 'Drag files here, or anywhere on the page',
  'pilets.chooseFiles': 'Choose files',
  'pilets.chooseFirst': 'Choose a file first',
  'pilets.formatHint':
    'Packages that npm pack creates (.tgz), or single scripts (.js, .mjs). A version never changes after its upload.',
  'pilets.files': 'Files to upload',
  'pilets.listFull': (count: string) =>
    `The list has at most ${count} files. Remove finished files to add others.`,
  'pilets.enableNow': 'Enable the versions immediately',
  'pilets.storedDisabled': 'With your role, versions are stored disabled. Developers can enable them.',
  'pilets.closeHint': 'You can close this dialog. The upload continues while this page is open.',
  'pilets.leaveTitle': 'Cancel the upload?',
  'pilets.leaveHint': 'Files are still being uploaded. Leaving cancels the upload.',
  'pilets.cancelUpload': (file: string) => `Cancel the upload of ${file}`,
  'pilets.removeFile': (file: string) => `Remove ${file} from the list`,
  'pilets.progressOf': (file: string) => `Progress of ${file}`,
  'pilets.progress': (percent: string, sent: string, total: string) => `${percent} · ${sent} of ${total}`,
  'pilets.openVersion': 'Open',
  'pilets.state.reading': 'reading',
  'pilets.state.ready': 'ready',
  'pilets.state.waiting': 'waiting',
  'pilets.state.sending': 'uploading',
  'pilets.state.storing': 'storing',
  'pilets.state.cancelled': 'cancelled',
  'pilets.state.enabled': 'uploaded, enabled',
  'pilets.state.stored': 'uploaded, disabled',
  'pilets.state.rejected': 'wrong file',
  'pilets.state.failed': 'not uploaded',
  'pilets.uploadedEnabled':
    'Feeds of applications that enable the pilet contain this version now, unless they have a higher one.',
  'pilets.uploadedDisabled': 'No feed contains this version until it is enabled.',
  'pilets.cancelledHint': 'Nothing was stored.',
  'pilets.rejected.empty': 'The file is empty. Create the package again with npm pack.',
  'pilets.rejected.unknownType':
    'The file is neither an npm package nor a script. Create a package with npm pack, and choose the .tgz file.',
  'pilets.rejected.damaged': 'The archive is damaged or incomplete. Create it again with npm pack.',
  'pilets.rejected.noManifest':
    'The archive has no package/package.json, so it is not an npm package. Create it with npm pack.',
  'pilets.rejected.noNameOrVersion':
    'The package.json in the archive has no name or no version. Add both, and run npm pack again.',
  'pilets.rejected.unreadable':
    'The browser cannot read the file. A folder cannot be uploaded: create a package with npm pack.',
  'pilets.rejected.repeated': 'Another file in this list has the same name and version. Remove one of them.',
  'pilets.rejected.tooLarge': (limit: string) =>
    `The file is larger than ${limit}, which no installation accepts. Leave out files that pages do not load, such as source maps.`,
  'pilets.tooLarge': (message: string) =>
    `The Manager rejected the size: ${message}. Leave out files that pages do not load, such as source maps, or ask the operator to raise the limit.`,
  'pilets.sameContent': (name: string, version: string) =>
    `${name} ${version} was uploaded before with the same content. There is nothing to do.`,
  'pilets.otherContent': (name: string, version: string) =>
    `${name} ${version} exists with other content. Versions never change: raise the version in package.json, run npm pack, and upload the new file.`,
  'pilets.otherContentSince': (name: string, version: string, uploaded: string) =>
    `${name} ${version} exists with other content, uploaded ${uploaded}. Versions never change: raise the version in package.json, run npm pack, and upload the new file.`,
  'pilets.interrupted': 'The connection was lost before the upload was complete. Nothing was stored.',
}
