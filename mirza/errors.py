"""Everything that can go wrong, as one tree.

MirzaError                 what happened, then what to do
├── SettingsError          a setting that does not exist, or a value out of its range
├── ModelError             a model, of any kind
│   ├── ModelNotFound      not in the catalogue, not on this disk, or not to be had
│   ├── ModelDamaged       files are missing, cut short, or not what their checksum says
│   ├── ModelUnsupported   it cannot run here, or not with what was asked of it
│   └── ModelBusy          a second stream was asked for while one was open
├── DownloadError          the network, the registry or the hub did not deliver
├── ServerError            an OpenAI-compatible server refused, or broke off
├── AudioError             sound in or out
│   ├── NoDevice           no microphone or no loudspeaker, or no PortAudio
│   ├── DeviceLost         it was there and is gone
│   └── BadRecording       a file that holds no sound that can be read
├── StorageError           conversations on disk: full, locked, damaged
└── ToolError              a tool that is unknown, was called wrongly, or failed
"""


class MirzaError(Exception):
    """Something a person can act on: `what` happened, then what to `do`."""

    def __init__(self, what: str, do: str = "") -> None:
        super().__init__(f"{what} {do}".strip())
        self.what = what
        self.do = do


class SettingsError(MirzaError):
    """A setting that does not exist, or a value out of its range."""


class ModelError(MirzaError):
    """Something is wrong with a model."""


class ModelNotFound(ModelError):
    """The model is not in the catalogue, not on this disk, or not to be had."""


class ModelDamaged(ModelError):
    """Files of the model are missing, cut short, or not what their checksum says."""


class ModelUnsupported(ModelError):
    """The model cannot run here, or not with what was asked of it."""


class ModelBusy(ModelError):
    """A second stream was asked for while one was open."""


class DownloadError(MirzaError):
    """The network, the registry or the hub did not deliver."""


class ServerError(MirzaError):
    """An OpenAI-compatible server refused, or broke off."""


class AudioError(MirzaError):
    """Sound in or out does not work."""


class NoDevice(AudioError):
    """There is no microphone or no loudspeaker, or PortAudio is not installed."""


class DeviceLost(AudioError):
    """A device was there and is gone."""


class BadRecording(AudioError):
    """A file holds no sound that can be read."""


class StorageError(MirzaError):
    """Conversations cannot be read from disk, or written to it."""


class ToolError(MirzaError):
    """A tool is unknown, was called wrongly, or failed."""
