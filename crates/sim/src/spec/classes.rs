//! Traffic classes (docs/model.md, section 4, "Traffic classes").

use super::options::table;
use super::{FabricSpec, MAX_CHANNELS, Spec, check::range};
use odonata_error::{Error, ErrorKind, path};

/// Most traffic classes of a fabric.
pub const MAX_CLASSES: usize = 8;
/// Largest share of a class.
pub const MAX_SHARE: u16 = 1_000;

table! {
    /// Jobs whose packets have virtual channels of their own.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TrafficClassSpec {
        /// Name, unique in the fabric.
        name: String,
        /// Links serve higher priorities first.
        priority: u8 = 0..=u8::MAX,
        /// Links serve classes of one priority in proportion to it.
        share: u16 = 1..=MAX_SHARE,
    }
}

impl FabricSpec {
    /// Traffic classes; one if none is named.
    #[must_use]
    pub fn class_count(&self) -> u8 {
        self.traffic_classes.len().clamp(1, MAX_CLASSES) as u8
    }

    /// Virtual channels of a link between routers without those of responses: the first one of responses.
    #[must_use]
    pub fn first_response(&self) -> u8 {
        self.channels.saturating_mul(self.class_count())
    }

    /// Most channels of a class.
    #[must_use]
    pub fn most_channels(&self) -> u8 {
        MAX_CHANNELS / self.class_count() / if self.answers() { 2 } else { 1 }
    }
}

impl Spec {
    /// Refuses classes that nothing could serve, and what is not modelled together with classes.
    pub(super) fn check_classes(&self) -> Result<(), Error> {
        let (classes, at) = (&self.fabric.traffic_classes, path!["fabric", "traffic_classes"]);
        for (index, job) in self.jobs.iter().enumerate() {
            if usize::from(job.class) >= usize::from(self.fabric.class_count()) {
                let (class, classes) = (job.class, self.fabric.class_count());
                return Err(ErrorKind::NoSuchTrafficClass { class, classes }.at(path!["jobs", index, "class"]));
            }
        }
        if classes.is_empty() {
            return Ok(());
        }
        range(&at, classes.len() as u64, 1, MAX_CLASSES as u64)?;
        for (index, class) in classes.iter().enumerate() {
            if classes[..index].iter().any(|other| other.name == class.name) {
                let name = class.name.clone();
                return Err(ErrorKind::TrafficClassTwice { name }.at(at.join(index).join("name")));
            }
            class.check_ranges(&at.join(index))?;
        }
        let unsupported = [
            (self.fabric.router.is_some(), "routers with a crossbar", at.clone()),
            (self.fabric.nic.aries.is_some(), "NICs of Aries", at),
            (self.measure.blame, "blame", path!["measure", "blame"]),
        ];
        match unsupported.into_iter().find(|(present, ..)| *present) {
            Some((_, other, at)) => Err(ErrorKind::NotWithTrafficClasses { other }.at(at)),
            None => Ok(()),
        }
    }
}
